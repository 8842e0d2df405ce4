"""Sizes that change along a list in ways that the constructor cannot follow: found by the call on shapes."""

from typing import Sequence

import jax.numpy as jnp
from flax import linen as nn


def cast(value, count):
    return value if isinstance(value, tuple) else (value,) * count


class Block(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)


class Stages(nn.Module):
    dims: Sequence[int] = (4, 5, 6)
    depth: Sequence[int] = (1, 2, 1)

    @nn.compact
    def __call__(self, x):
        dims, depth = cast(self.dims, 3), cast(self.depth, 3)
        layers = []
        for dim, count in zip(dims, depth):
            layers.append([Block(dim), nn.Sequential([nn.Dense(dim + i) for i in range(count)])])
        for first, then in layers:
            x = then(first(x))
        return nn.Sequential([nn.LayerNorm(), nn.Dense(3)])(x)


class Cascade(nn.Module):
    """Each stage is given more than the one before it gave."""

    dims: Sequence[int] = (4, 5, 6)
    reps: int = 2

    @nn.compact
    def __call__(self, x):
        dims = cast(self.dims, 3)
        stages = []
        for dim in dims:
            stages.append([Block(dim), nn.Sequential([Block(dim * (i + 1)) for i in range(self.reps)])])
        for one, other in stages:
            y = one(x)
            x = jnp.concatenate([other(y), x], axis=-1)
        return x


class TwoLoops(nn.Module):
    """Two lists of loops that change a width."""

    width: int = 4

    @nn.compact
    def __call__(self, x):
        a, b = [], []
        ch = self.width
        for _ in range(3):
            a.append(nn.Dense(ch))
            ch *= 2
        for _ in range(3):
            b.append(nn.Dense(ch))
            ch //= 2
        for p, q in zip(a, b):
            x = q(p(x))
        return x


class Between(nn.Module):
    """A width that changes between two lists of one loop."""

    width: int = 4

    @nn.compact
    def __call__(self, x):
        a, b = [], []
        ch = self.width
        for _ in range(3):
            a.append(nn.Dense(ch))
            ch *= 2
            b.append(nn.Dense(ch))
        for p, q in zip(a, b):
            x = q(p(x))
        return x


CASES = [
    ("TwoLoops", {}, [(2, 3)], {}),
    ("Between", {}, [(2, 3)], {}),
    ("Stages", {}, [(2, 3)], {}),
    ("Stages", {"dims": 4, "depth": 2}, [(2, 3)], {}),
    ("Stages", {"dims": (2, 7, 3), "depth": (1, 1, 3)}, [(5, 2, 3)], {}),
    ("Cascade", {}, [(2, 3)], {}),
    ("Cascade", {"dims": 4, "reps": 3}, [(2, 3)], {}),
]
