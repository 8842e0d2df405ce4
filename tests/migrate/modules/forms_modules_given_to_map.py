"""Modules that `map` and `jax.tree.map` are given as they are."""

import jax
from flax import linen as nn


class Named(nn.Module):
    width: int = 3

    @nn.compact
    def __call__(self, x):
        layer = nn.Dense(self.width)
        return jax.tree_util.tree_map(layer, {"a": x, "b": x * 2})


class Held(nn.Module):
    width: int = 3

    def setup(self):
        self.head = nn.Sequential([nn.Dense(self.width), nn.relu, nn.Dense(2)])

    def __call__(self, x):
        return list(map(self.head, [x, x + 1]))


class InPlace(nn.Module):
    width: int = 3

    @nn.compact
    def __call__(self, x):
        a, b = tuple(map(nn.Dense(self.width), (x, x * 2)))
        return jax.tree.map(nn.Dense(2), (a, b))


class Pairs(nn.Module):
    @nn.compact
    def __call__(self, x, y):
        return nn.Dense(2)(x) + y.sum()


class OfTwo(nn.Module):
    def setup(self):
        self.pairs = Pairs()
        self.first = nn.Dense(4)

    def __call__(self, x):
        xs = jax.tree.map(self.first, [x, x * 2])
        return jax.tree.map(self.pairs, xs, [x, x])


class OfSetup(nn.Module):
    width: int = 4

    def setup(self):
        self.proj = nn.Dense(self.width)
        self.encode = lambda x: self.proj(x)

    def __call__(self, x):
        return sum(map(self.encode, [x, 2 * x]))


CASES = [
    ("Named", {}, [(2, 4)], {}),
    ("Held", {}, [(2, 4)], {}),
    ("InPlace", {"width": 5}, [(2, 4)], {}),
    ("OfTwo", {}, [(2, 4)], {}),
    ("OfSetup", {}, [(2, 4)], {}),
]
