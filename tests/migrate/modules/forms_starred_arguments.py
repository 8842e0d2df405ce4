"""Arguments that a call unpacks with a star: `first, *others = xs`, where no call on shapes can find the sizes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import flax.linen as nn
import jax.numpy as jnp


class Block(nn.Module):
    width: int = 4

    @nn.compact
    def __call__(self, x, mask=None):
        h = nn.Dense(x.shape[-1])(nn.relu(nn.Dense(self.width)(x)))
        return x + (h if mask is None else h * mask)


class Carried(nn.Module):
    """What is before the star changes, the rest is handed on."""

    build: Callable[[], nn.Module]

    def setup(self):
        self.block = self.build()

    def __call__(self, x):
        x, *others = x
        return self.block(x, *others), *others


class Compact(nn.Module):
    @nn.compact
    def __call__(self, pair):
        a, b, *others = pair
        return nn.Dense(a.shape[-1])(a) + nn.Dense(a.shape[-1])(b), b, *others


class Behind(nn.Module):
    """What comes after a star is not known by its place."""

    @nn.compact
    def __call__(self, xs):
        first, *_, last = xs
        return nn.Dense(2)(first) + last.sum()


class Scanned(nn.Module):
    depth: int = 2

    @nn.compact
    def __call__(self, x, mask):
        stack = nn.remat_scan(Carried, lengths=(self.depth, 2))(partial(Block, 6))
        return stack((x, mask))[0]


class Alone(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.remat_scan(Carried, lengths=(2, 1))(build=Block)((x,))[0]


class Looped(nn.Module):
    @nn.compact
    def __call__(self, x, y):
        for _ in range(2):
            x, y, *_ = Compact()((x, y, x.sum()))
        return Behind()((x, y, y))


class Rows(nn.Module):
    """The rows of one array."""

    @nn.compact
    def __call__(self, x):
        first, *others = x
        return nn.Dense(3)(first) + sum(others).sum()


CASES: list[Any] = [
    ("Scanned", {}, [(2, 5, 4), (2, 5, 1)], {}),
    ("Alone", {}, [(2, 5)], {}),
    ("Looped", {}, [(2, 5), (2, 3)], {}),
    ("Rows", {}, [(3, 2, 5)], {}),
    ("Scanned", {"depth": 3}, [(2, 5, 4), (2, 5, 4)], {}),
]
