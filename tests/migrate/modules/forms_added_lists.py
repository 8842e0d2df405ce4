"""Lists of arrays one behind the other, joined: numbers beside an embedding of each category."""

from typing import Sequence

import jax.numpy as jnp
from flax import linen as nn


class Tabular(nn.Module):
    sizes: Sequence[int] = (3, 5)
    layers: Sequence[int] = (4, 6)

    @nn.compact
    def __call__(self, numbers, categories):
        ids = jnp.abs(categories).astype(jnp.int32) % 3
        parts = [numbers] + [nn.Embed(size, 4)(ids[..., i]) for i, size in enumerate(self.sizes)]
        x = jnp.concatenate(parts, axis=-1)
        for width in self.layers:
            x = nn.relu(nn.Dense(width)(x))
        return nn.Dense(2)(x)


class OfTheirSizes(nn.Module):
    """Each embedding as wide as it has entries; arrays on both sides."""

    sizes: Sequence[int] = (3, 5)

    @nn.compact
    def __call__(self, numbers, categories):
        ids = jnp.abs(categories).astype(jnp.int32) % 3
        embedded = [nn.Embed(size, size)(ids[..., i]) for i, size in enumerate(self.sizes)]
        parts = [numbers, numbers * 2] + embedded + [jnp.sin(numbers)]
        return nn.Dense(2)(jnp.concatenate(parts, axis=-1))


class GrownTuple(nn.Module):
    """A tuple that a loop fills, with the input ahead of it: no array."""

    n: int = 3

    @nn.compact
    def __call__(self, x):
        outs = ()
        for i in range(self.n):
            outs += (nn.Dense(i + 2)(x),)
        outs = (x, *outs)
        return nn.Dense(3)(jnp.concatenate(outs, -1)), nn.Dense(2)(outs[-1]), nn.Dense(2)(outs[1])


class AsOften(nn.Module):
    n: int = 2

    @nn.compact
    def __call__(self, x):
        parts = [x] * self.n
        return nn.Dense(3)(jnp.concatenate(parts, -1))


class WidthsDoubled(nn.Module):
    n: int = 3

    @nn.compact
    def __call__(self, x):
        outs = []
        width = 2
        for _ in range(self.n):
            outs += [nn.Dense(width)(x)]
            width *= 2
        return nn.Dense(width)(jnp.concatenate(outs[::-1], -1))


CASES = [
    ("Tabular", {}, [(7, 4), (7, 2)], {}),
    ("OfTheirSizes", {}, [(7, 4), (7, 2)], {}),
    ("Tabular", {"sizes": (4, 4, 4)}, [(2, 7, 4), (2, 7, 3)], {}),
    ("GrownTuple", {}, [(2, 4)], {}),
    ("AsOften", {}, [(2, 4)], {}),
    ("WidthsDoubled", {}, [(2, 4)], {}),
]
