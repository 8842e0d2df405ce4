"""Sizes after loops over lists: of fields with and without defaults, enumerated, cut and joined; `CASES` as in forms_basic."""

from typing import Sequence

import jax.numpy as jnp
from flax import linen as nn


class Plain(nn.Module):
    sizes: Sequence[int]

    @nn.compact
    def __call__(self, x):
        for size in self.sizes:
            x = nn.relu(nn.Dense(size)(x))
        return x


class OfPlain(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(Plain((8, 4))(x))


class Defaulted(nn.Module):
    sizes: Sequence[int] = (6, 8)

    @nn.compact
    def __call__(self, x):
        for i, size in enumerate(self.sizes):
            x = nn.Dense(2 * size + 1, name=f"layer_{i}")(x)
            if i + 1 < len(self.sizes):
                x = nn.silu(x)
        return x


class OfDefault(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(Defaulted()(x))


class LongerThanTheDefault(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(Defaulted((8, 4, 3))(x))


class HandedOn(nn.Module):
    """Its own default is shorter than what it is given."""

    mine: Sequence[int] = (4, 6)

    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(Plain(self.mine)(x)) + nn.Dense(2)(Defaulted(self.mine)(x))


class Cut(nn.Module):
    sizes: Sequence[int]

    @nn.compact
    def __call__(self, x):
        for size in self.sizes[:-1]:
            x = nn.Dense(size)(x)
        return x


class OfCut(nn.Module):
    mine: Sequence[int] = (4, 6)

    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(Cut(self.mine)(x))


class Joined(nn.Module):
    sizes: Sequence[int]

    @nn.compact
    def __call__(self, x):
        sizes = list(self.sizes) + [5]
        for size in sizes:
            x = nn.Dense(size)(x)
        return x


class OfJoined(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(Joined((8, 4))(x))


class Stages(nn.Module):
    sizes: Sequence[int]

    @nn.compact
    def __call__(self, x):
        for i, size in enumerate(self.sizes):
            x = nn.Conv(size, (3, 3), strides=(1, 1) if i else (2, 2))(x)
            x = jnp.tanh(nn.LayerNorm()(x))
        return x


class OfStages(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Conv(2, (1, 1))(Stages([8, 4])(x))


CASES = [
    ("OfPlain", {}, [(2, 3)], {}),
    ("OfDefault", {}, [(2, 3)], {}),
    ("LongerThanTheDefault", {}, [(2, 3)], {}),
    ("HandedOn", {"mine": (5, 7, 9)}, [(2, 3)], {}),
    ("OfCut", {"mine": (5, 7, 9)}, [(2, 3)], {}),
    ("OfJoined", {}, [(2, 3)], {}),
    ("OfStages", {}, [(2, 4, 4, 3)], {}),
]
