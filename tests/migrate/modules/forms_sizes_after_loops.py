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


class Listed(nn.Module):
    """The list is made in setup and called in a loop with a counter."""

    sizes: Sequence[int]

    def setup(self):
        self.layers = [nn.Dense(size) for size in self.sizes]

    def __call__(self, x):
        for i, layer in enumerate(self.layers):
            x = layer(x)
            if i + 1 < len(self.layers):
                x = jnp.tanh(x)
        return x


class DownAndUp(nn.Module):
    sizes: Sequence[int]

    def setup(self):
        self.down = [nn.Dense(size) for size in self.sizes]
        self.up = [nn.Dense(size + 1) for size in self.sizes]

    def __call__(self, x):
        for layer in self.down:
            x = layer(x)
        for layer in self.up:
            x = jnp.tanh(layer(x))
        return x


class OfListed(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(Listed((8, 4))(x))


class OfLists(nn.Module):
    def setup(self):
        self.first = DownAndUp((8, 4))
        self.second = Listed((7, 6))
        self.head = nn.Dense(2)

    def __call__(self, x):
        return self.head(self.second(self.first(x)))


CASES = [
    ("OfListed", {}, [(2, 3)], {}),
    ("OfLists", {}, [(2, 3)], {}),
    ("OfPlain", {}, [(2, 3)], {}),
    ("OfDefault", {}, [(2, 3)], {}),
    ("LongerThanTheDefault", {}, [(2, 3)], {}),
    ("HandedOn", {"mine": (5, 7, 9)}, [(2, 3)], {}),
    ("OfCut", {"mine": (5, 7, 9)}, [(2, 3)], {}),
    ("OfJoined", {}, [(2, 3)], {}),
    ("OfStages", {}, [(2, 4, 4, 3)], {}),
]
