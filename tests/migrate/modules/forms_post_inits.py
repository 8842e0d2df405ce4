"""`__post_init__` that changes fields and makes attributes of them."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from flax import linen as nn


class Width(nn.Module):
    """A width that stands in for None."""

    features: int
    hidden: int | None = None

    def __post_init__(self):
        if self.hidden is None:
            self.hidden = 4 * self.features
        super().__post_init__()

    @nn.compact
    def __call__(self, x):
        h = nn.Dense(self.hidden)(x)
        return nn.Dense(self.features)(nn.gelu(h)) * self.hidden


class Made(nn.Module):
    """Attributes made of fields."""

    features: int = 6
    heads: int = 3

    def __post_init__(self):
        self.head_dim = self.features // self.heads
        self.scale = 1 / math.sqrt(self.head_dim)
        super().__post_init__()

    @nn.compact
    def __call__(self, x):
        q = nn.Dense(self.heads * self.head_dim)(x)
        q = q.reshape(*q.shape[:-1], self.heads, self.head_dim)
        return nn.Dense(self.head_dim)(q * self.scale)


class Both(nn.Module):
    features: int = 6
    hidden: int = None

    def __post_init__(self) -> None:
        """Widths."""
        super().__post_init__()
        # what is left out
        hidden = self.hidden or 2 * self.features  # twice
        object.__setattr__(self, 'hidden', hidden)
        object.__setattr__(self, 'half', self.hidden // 2)

    def setup(self):
        self.up = nn.Dense(self.hidden)
        self.down = nn.Dense(self.half)

    def __call__(self, x):
        return self.down(self.up(x)).reshape(x.shape[0], self.half // 2, 2)


class Kinds(nn.Module):
    """One number for all."""

    sizes: int | Sequence[int] = 3
    depth: int = 2
    dtype: Any = None

    def __post_init__(self):
        if isinstance(self.sizes, int):
            self.sizes = (self.sizes,) * self.depth
        if self.dtype is None:
            self.dtype = jnp.float32
        if len(self.sizes) != self.depth:
            raise ValueError(f'{self.sizes}')
        super().__post_init__()

    @nn.compact
    def __call__(self, x):
        for size in self.sizes:
            x = nn.Dense(size, dtype=self.dtype)(x)
        return x


class Around(nn.Module):
    """What contains them."""

    hidden: int | None = None

    @nn.compact
    def __call__(self, x):
        x = Width(4, self.hidden)(x)
        x = nn.Dense(5)(x)
        x = Width(features=4)(x)
        x = nn.Dense(5)(x)
        x = Made(8, heads=4)(x)
        x = nn.Dense(3)(x)
        return Made()(x)


class Many(nn.Module):
    """Under scan and remat."""

    depth: int = 2

    @nn.compact
    def __call__(self, x):
        def body(block, x, _):
            return block(x), None

        x, _ = nn.scan(body, variable_axes={'params': 0}, split_rngs={'params': True}, length=self.depth)(
            nn.remat(Width)(3), x, None
        )
        return x


class Derived(Width):
    """Inherits it."""

    more: int = 2

    @nn.compact
    def __call__(self, x):
        y = super().__call__(x)
        return nn.Dense(self.more)(y)


class Conversions(nn.Module):
    sizes: Any = (3, 4)
    kind: str = 'a'
    act: Any = None

    def __post_init__(self):
        self.sizes = tuple(self.sizes)
        self.act = nn.tanh if self.act is None else self.act
        table = {}
        table['a'] = 1.5
        table['b'] = 2.5
        self.gain = table[self.kind]
        super().__post_init__()

    @nn.compact
    def __call__(self, x):
        for size in self.sizes:
            x = self.act(nn.Dense(size)(x))
        return x * self.gain


class Arrays(nn.Module):
    """Attributes that are arrays, and lists of them; set by their names."""

    width: int = 4

    def __post_init__(self):
        super().__post_init__()
        object.__setattr__(self, 'masks', [np.arange(self.width), np.ones(self.width)])
        object.__setattr__(
            self,
            'flip',
            self.width
            > 3,
        )

    @nn.compact
    def __call__(self, x):
        if self.flip:
            x = nn.Dense(2)(x)
        return nn.Dense(self.width)(x) * self.masks[1]


class OfChild(nn.Module):
    """A width that only the module itself knows."""

    width: int | None = None

    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(Wide(self.width)(x))


class Wide(nn.Module):
    width: int | None = None

    def __post_init__(self):
        self.width = self.width if self.width is not None else 5
        super().__post_init__()

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)


class Asked(nn.Module):
    """Conditions ask for what the field has become."""

    width: int | None = None
    act: Any = None
    scale: float = dataclasses.field(default=1.0, init=False)

    def __post_init__(self):
        if not self.width:
            self.width = 6
        if self.act is None and self.width > 2:
            self.act = jnp.tanh
        object.__setattr__(self, 'scale', float(object.__getattribute__(self, 'width')))
        super().__post_init__()

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(3 if self.width is None else 4)(x)
        if self.width is not None and self.act is not None:
            x = self.act(nn.Dense(self.width)(x))
        return nn.Dense(2)(x) * self.scale


class Checked(nn.Module):
    depth: int = 2
    sizes: tuple = (3,)

    def __post_init__(self):
        super().__post_init__()
        if self.depth < 1:
            raise ValueError("no layers")


class BelowChecked(Checked):
    """Changes a field and makes an attribute, and has its base check."""

    order: Any = None

    def __post_init__(self):
        if self.order is None:
            self.order = (0, 1)
        self.count = len(self.order)
        super().__post_init__()

    @nn.compact
    def __call__(self, x):
        for _ in range(self.depth):
            x = nn.Dense(self.count)(x)
        return x[..., jnp.asarray(self.order)]


class FurtherBelow(BelowChecked):
    scale: float = 2.0

    @nn.compact
    def __call__(self, x):
        return super().__call__(x) * self.scale


CASES = [
    ("BelowChecked", {"depth": 3}, [(2, 3)], {}),
    ("FurtherBelow", {"order": (2, 0, 1)}, [(2, 3)], {}),
    ("Arrays", {}, [(2, 3)], {}),
    ("Arrays", {"width": 2}, [(2, 3)], {}),
    ("OfChild", {}, [(2, 3)], {}),
    ("OfChild", {"width": 2}, [(2, 3)], {}),
    ("Asked", {}, [(2, 3)], {}),
    ("Asked", {"width": 5, "act": nn.relu}, [(2, 3)], {}),
    ("Width", {"features": 3}, [(2, 3)], {}),
    ("Width", {"features": 3, "hidden": 5}, [(2, 3)], {}),
    ("Made", {}, [(2, 3)], {}),
    ("Both", {}, [(2, 3)], {}),
    ("Both", {"hidden": 8}, [(2, 3)], {}),
    ("Kinds", {}, [(2, 3)], {}),
    ("Kinds", {"sizes": [4, 5], "dtype": jnp.bfloat16}, [(2, 3)], {}),
    ("Around", {}, [(2, 3)], {}),
    ("Around", {"hidden": 7}, [(2, 3)], {}),
    ("Many", {}, [(2, 3)], {}),
    ("Derived", {"features": 3}, [(2, 3)], {}),
    ("Conversions", {"sizes": [4, 5], "kind": "b"}, [(2, 3)], {}),
]
