"""`x = nn.Dense(n)(x) if self.flag else x`: the constructor follows the width of either; `CASES` as in forms_basic."""

from collections.abc import Sequence

import jax.numpy as jnp
from flax import linen as nn


class Maybe(nn.Module):
    width: int | None = None
    pair: bool = True

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.width)(x) if self.width is not None else x
        y: jnp.ndarray = nn.Dense(4)(x) if self.pair else nn.Dense(5)(x)
        a, b = (nn.Dense(4)(x), nn.Dense(5)(x)) if self.pair else (y, nn.Dense(2)(x))
        return nn.Dense(3)(a) + nn.Dense(3)(b) + nn.Dense(3)(y)


class Passes(nn.Module):
    widths: Sequence[int] = (4, 6)
    short: bool = True

    @nn.compact
    def __call__(self, x):
        count = len(self.widths)
        for i, width in enumerate(self.widths):
            h = nn.Dense(width + i)(x) if i % 2 == 0 else x
            h = nn.Dense(3)(h) if self.short else h
            x = nn.Conv(width, (3, 3), (2, 2))(h) if i < count - 1 else nn.Conv(2, (3, 3))(h)
        return nn.Dense(3)(x)


class OneOfThree(nn.Module):
    kind: str = "wide"

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(5)(x) if self.kind == "wide" else nn.Dense(4)(x) if self.kind == "narrow" else x
        return nn.Dense(2)(x)


class Given(nn.Module):
    kind: str = "wide"

    @nn.compact
    def __call__(self, x, other=None):
        if other is not None:
            x = x + nn.Dense(x.shape[-1])(other)
        return nn.Dense(5)(x) if self.kind == "wide" else nn.Dense(4)(x) if self.kind == "narrow" else x


class Takes(nn.Module):
    kind: str = "wide"

    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(Given(self.kind)(x, x)) + nn.Dense(2)(Given("wide")(x, 2 * x))


class Outer(nn.Module):
    pair: bool = False

    @nn.compact
    def __call__(self, x):
        return Maybe(pair=self.pair)(Passes(short=self.pair)(x))


CASES = [
    ("Maybe", {"width": 6}, [(2, 3)], {}),
    ("Passes", {"widths": (4, 6, 8)}, [(2, 8, 8, 3)], {}),
    ("Passes", {"short": False}, [(2, 8, 8, 3)], {}),
    ("OneOfThree", {"kind": "narrow"}, [(2, 3)], {}),
    ("OneOfThree", {"kind": "none"}, [(2, 3)], {}),
    ("Takes", {"kind": "narrow"}, [(2, 3)], {}),
    ("Takes", {"kind": "none"}, [(2, 3)], {}),
    ("Outer", {}, [(2, 8, 8, 3)], {}),
    ("Outer", {"pair": True}, [(2, 8, 8, 3)], {}),
]
