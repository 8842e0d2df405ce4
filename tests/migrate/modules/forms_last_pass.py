"""Loops whose last pass is another one: `if i != self.stages - 1: x = x.reshape(b, h, w, -1)`."""

from collections.abc import Iterable, Sequence

import jax.numpy as jnp
from flax import linen as nn


class Patch(nn.Module):
    dim: int

    @nn.compact
    def __call__(self, x):
        return nn.LayerNorm()(nn.Conv(self.dim, (3, 3), strides=2)(x))


class Pyramid(nn.Module):
    """Other numbers of dimensions in the last pass: those of the others go round the loop, its own come out of it."""

    dims: Iterable[int] = (4, 8, 12)
    stages: int = 3

    @nn.compact
    def __call__(self, x):
        for i in range(self.stages):
            x = Patch(self.dims[i], name=f"patch{i}")(x)
            b, h, w, c = x.shape
            x = x.reshape(x.shape[0], -1, x.shape[-1])
            x = nn.LayerNorm(name=f"norm{i}")(x)
            if i != self.stages - 1:
                x = x.reshape(b, h, w, -1)
        return nn.Dense(3)(x.mean(1))


class LastInElse(nn.Module):
    """Widths that differ between the sides, and modules of the last pass only."""

    features: Sequence[int] = (4, 6)

    @nn.compact
    def __call__(self, x):
        for i, size in enumerate(self.features):
            x = nn.Dense(size)(x)
            if i == len(self.features) - 1:
                x = jnp.concatenate([x, x, x], axis=-1)
                x = nn.LayerNorm(name=f"last{i}")(x)
            else:
                x = jnp.concatenate([x, x], axis=-1)
        return nn.Dense(2)(x)


class BehindIt(nn.Module):
    """Statements behind the condition are for both sides."""

    @nn.compact
    def __call__(self, x):
        for i in range(3):
            x = nn.Dense(4)(x)
            if i < 2:
                x = jnp.concatenate([x, x], -1)
            x = nn.Dense(5, name=f"behind{i}")(x)
        return nn.Dense(2)(x)


class Nested(nn.Module):
    depths: Sequence[int] = (1, 2)
    widths: Sequence[int] = (4, 6)

    @nn.compact
    def __call__(self, x):
        for i in range(len(self.widths)):
            for j in range(self.depths[i]):
                x = nn.Dense(self.widths[i], name=f"dense{i}_{j}")(x)
                if i + 1 == len(self.widths):
                    x = nn.relu(x)
            if not i + 1 == len(self.widths):
                x = jnp.concatenate([x, x], -1)
        return nn.Dense(2)(x)


class OfAnother(nn.Module):
    """A number of another loop says nothing of this one's last pass."""

    stages: int = 2
    other: int = 3

    @nn.compact
    def __call__(self, x):
        for i in range(self.stages):
            x = nn.Dense(4)(x)
            if i != self.other - 1:
                x = jnp.concatenate([x, x], -1)
        return nn.Dense(2)(x)


class OnePass(nn.Module):
    """The first pass may be the last."""

    stages: int = 1

    @nn.compact
    def __call__(self, x):
        for i in range(self.stages):
            x = nn.Dense(4)(x)
            if i != self.stages - 1:
                x = jnp.concatenate([x, x], -1)
        return nn.Dense(2)(x)


class Stepped(nn.Module):
    """A counter that the loop changes is followed no more."""

    stages: int = 2

    @nn.compact
    def __call__(self, x):
        for i in range(self.stages):
            x = nn.Dense(4)(x)
            i = i + 1
            if i != self.stages - 1:
                x = jnp.concatenate([x, x], -1)
        return nn.Dense(2)(x)


def doubled(x, i, stages):
    """Its own numbers, by the names that the loop has."""
    if i != stages - 1:
        x = jnp.concatenate([x, x], -1)
    return x


class OfAFunction(nn.Module):
    stages: int = 2

    @nn.compact
    def __call__(self, x):
        stages = self.stages
        for i in range(stages):
            x = nn.Dense(4)(x)
            x = doubled(x, 0, 1)
        return nn.Dense(2)(x)


CASES = [
    ("OfAFunction", {}, [(2, 3)], {}),
    ("Pyramid", {}, [(2, 16, 16, 3)], {}),
    ("Pyramid", {"dims": (4, 5), "stages": 2}, [(2, 16, 16, 3)], {}),
    ("LastInElse", {}, [(2, 3)], {}),
    ("LastInElse", {"features": (5,)}, [(2, 3)], {}),
    ("BehindIt", {}, [(2, 3)], {}),
    ("Nested", {}, [(2, 3)], {}),
    ("Nested", {"depths": (2, 1, 1), "widths": (4, 6, 3)}, [(2, 3)], {}),
    ("OfAnother", {}, [(2, 3)], {}),
    ("OfAnother", {"stages": 4}, [(2, 3)], {}),
    ("OnePass", {}, [(2, 3)], {}),
    ("OnePass", {"stages": 3}, [(2, 3)], {}),
    ("Stepped", {}, [(2, 3)], {}),
    ("Stepped", {"stages": 3}, [(2, 3)], {}),
]
