"""Arrays that one side of a condition joins to what is not known: they do not keep their width."""

from typing import Any

import jax.numpy as jnp
from flax import linen as nn


class PassBefore(nn.Module):
    sizes: Any = (3, 4, 5)

    @nn.compact
    def __call__(self, x):
        before = None
        for size in self.sizes:
            y = nn.Dense(size)(x)
            if before is not None:
                y = jnp.concatenate([y, before], -1)
            before = y
            x = y
        return nn.Dense(2)(x)


class EitherWay(nn.Module):
    n: int = 3

    @nn.compact
    def __call__(self, x):
        skip = None
        for _ in range(self.n):
            h = x if skip is None else jnp.concatenate([x, skip], axis=-1)
            skip = x
            x = nn.Dense(4)(h)
        return nn.Dense(2)(x)


class ListOfSetup(nn.Module):
    n: int = 3

    def setup(self):
        self.layers = [nn.Dense(4) for _ in range(self.n)]
        self.last = nn.Dense(2)

    def __call__(self, x):
        before = None
        for layer in self.layers:
            if before is not None:
                x = jnp.concatenate([x, before], -1)
            before = x
            x = layer(x)
        return self.last(x)


class AddedIsAsBefore(nn.Module):
    n: int = 3

    @nn.compact
    def __call__(self, x):
        before = None
        for _ in range(self.n):
            y = nn.Dense(4)(x)
            if before is not None:
                y = y + before
            before = y
            x = y
        return nn.Dense(2)(x)


CASES = [
    ("PassBefore", {}, [(2, 4)], {}),
    ("EitherWay", {}, [(2, 4)], {}),
    ("ListOfSetup", {}, [(2, 4)], {}),
    ("AddedIsAsBefore", {}, [(2, 4)], {}),
    ("PassBefore", {"sizes": (3,)}, [(2, 4)], {}),
    ("EitherWay", {"n": 1}, [(2, 4)], {}),
    ("ListOfSetup", {"n": 1}, [(2, 4)], {}),
]
