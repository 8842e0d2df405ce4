"""Fields that are given lists and dicts, which Linen freezes, where the code needs what it makes of them."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, List, Optional, Tuple, Union

import jax.numpy as jnp
from flax import linen as nn
from flax.core import FrozenDict, freeze


class Added(nn.Module):
    sizes: Sequence[int] = (4,)

    @nn.compact
    def __call__(self, x):
        for s in self.sizes + (2,):
            x = nn.Dense(s)(x)
        return x


class Shapes(nn.Module):
    heads: Any
    out: Tuple[int, ...] = (2,)

    @nn.compact
    def __call__(self, x):
        y = nn.Dense(6)(x).reshape(x.shape[:-1] + self.heads).sum(-1)
        y = nn.Dense(4)(jnp.concatenate([x, y.reshape(x.shape[:-1] + (2,))], -1))
        return nn.DenseGeneral(self.out)(y).reshape(x.shape[:-1] + self.out)


class Compared(nn.Module):
    kernel: Union[int, Sequence[int]] = (1, 1)

    @nn.compact
    def __call__(self, x):
        if self.kernel == (1, 1):
            return nn.Dense(3)(x)
        return nn.Conv(3, self.kernel)(x)


class Kinds(nn.Module):
    width: Any = 3

    @nn.compact
    def __call__(self, x):
        if isinstance(self.width, tuple):
            for w in self.width:
                x = nn.Dense(w)(x)
            return x
        if isinstance(self.width, list):
            return -x
        return nn.Dense(self.width)(x)


class Optionally(nn.Module):
    hidden: Optional[Sequence[int]] = None

    def setup(self):
        hidden = self.hidden
        if hidden is not None:
            self.layers = [nn.Dense(h) for h in hidden + (4,)]
        self.head = nn.Dense(2)

    def __call__(self, x):
        if self.hidden is not None:
            for layer in self.layers:
                x = layer(x)
        return self.head(x)


class Sliced(nn.Module):
    sizes: List[int] = dataclasses.field(default_factory=lambda: [4, 3])

    @nn.compact
    def __call__(self, x):
        for s in self.sizes[:-1] + (5,):
            x = nn.Dense(s)(x)
        return nn.Dense(self.sizes[-1])(x)


class Derived(Added):
    more: int = 1

    @nn.compact
    def __call__(self, x):
        return super().__call__(x) * self.more


class Configured(nn.Module):
    config: Any

    @nn.compact
    def __call__(self, x):
        if isinstance(self.config, dict):
            return x
        rest, n = self.config.pop("n")
        more = rest.copy({"k": 2})
        return nn.Dense(n)(x) * more["k"]


class EitherKind(nn.Module):
    config: Mapping[str, int]

    @nn.compact
    def __call__(self, x):
        assert isinstance(self.config, dict | FrozenDict)
        return nn.Dense(self.config["n"])(x)


class Outer(nn.Module):
    sizes: Sequence[int] = (5, 4)

    @nn.compact
    def __call__(self, x):
        x = Added([6, 3])(x)
        x = nn.Dense(3)(x)
        x = Added(list(self.sizes))(x)
        return nn.Dense(2)(jnp.tanh(x))


CASES = [
    ("Added", {"sizes": [4]}, [(2, 3)], {}),
    ("Added", {"sizes": (4, 5)}, [(2, 3)], {}),
    ("Shapes", {"heads": [2, 3]}, [(2, 5, 4)], {}),
    ("Shapes", {"heads": (2, 3), "out": [3]}, [(2, 5, 4)], {}),
    ("Compared", {"kernel": [1, 1]}, [(2, 4, 4, 3)], {}),
    ("Compared", {"kernel": [3, 3]}, [(2, 4, 4, 3)], {}),
    ("Kinds", {"width": [4, 2]}, [(2, 3)], {}),
    ("Kinds", {}, [(2, 3)], {}),
    ("Optionally", {"hidden": [3]}, [(2, 3)], {}),
    ("Optionally", {}, [(2, 3)], {}),
    ("Sliced", {}, [(2, 3)], {}),
    ("Sliced", {"sizes": [2, 2]}, [(2, 3)], {}),
    ("Derived", {"sizes": [2, 2]}, [(2, 3)], {}),
    ("Configured", {"config": {"n": 3, "m": {"a": [1]}}}, [(2, 3)], {}),
    ("Configured", {"config": freeze({"n": 3})}, [(2, 3)], {}),
    ("EitherKind", {"config": {"n": 3}}, [(2, 3)], {}),
    ("Outer", {"sizes": [4, 4]}, [(2, 3)], {}),
]
