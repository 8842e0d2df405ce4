"""Lists and dicts of setup that Linen makes tuples and FrozenDicts, as deep as they go, of what they hold at that moment."""

from typing import Any, Sequence

import jax.numpy as jnp
import numpy as np
from flax import linen as nn


class Deep(nn.Module):
    def setup(self):
        self.kinds = {"a": [1, 2], "b": (1, 2)}
        self.pairs = [[1, 2], [3, 4]]
        self.dense = nn.Dense(3)

    def __call__(self, x):
        k = 1 + len(self.kinds["a"] + (1,))
        if self.kinds["a"] == self.kinds["b"]:
            k *= 3
        if self.pairs[0] == (1, 2):
            k += 7
        for p in self.pairs:
            if p == (3, 4):
                k += 20
        return self.dense(x) * k


class Keys(nn.Module):
    perm: Sequence[int] = (0, 1)
    other: Any = (1, 0)

    def setup(self):
        self.names = sorted({"b", "a"})
        self.parts = [[1, 2], (3, [4])]
        self.rows = [1, 0]
        self.table = {(1, 2): 5.0}
        self.dense = nn.Dense(3)

    def __call__(self, x):
        t = np.arange(16.0).reshape(4, 4)
        first, second = self.parts
        k = {self.names: 2.0}[("a", "b")] * self.table[first] * len(second[1] * 2)
        k += 3 if self.names in [("a", "b")] else 4
        k *= 2 if self.other in [(1, 0), (3, 2)] else 7
        return self.dense(x) * k * jnp.sum(t[self.perm]) + jnp.sum(t[self.rows]) + jnp.sum(t[self.other])


class Later(nn.Module):
    def setup(self):
        sizes = [1, 2]
        self.sizes = sizes
        sizes.append(3)
        self.held = {"w": sizes, "n": 1}
        sizes += [4]
        table = {}
        self.table = table
        table["z"] = 2
        self.dense = nn.Dense(len(sizes))

    def __call__(self, x):
        return self.dense(x) * len(self.sizes) * len(self.held["w"]) * (1 + len(self.table))


class Arrays(nn.Module):
    def setup(self):
        self.arrays = [jnp.ones(3), jnp.arange(3.0)]
        self.dense = nn.Dense(3)

    def __call__(self, x):
        return self.dense(x) + sum(self.arrays + (jnp.ones(3),))


class Same(nn.Module):
    a: Any = (1, 2)
    b: Sequence[int] = (1, 2)

    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(x) * (5 if self.a == self.b else 2) * len(f"{self.b}")


CASES = [
    ("Deep", {}, [(2, 4)], {}),
    ("Keys", {}, [(2, 4)], {}),
    ("Keys", {"perm": [2, 1], "other": [3, 2]}, [(2, 4)], {}),
    ("Later", {}, [(2, 4)], {}),
    ("Arrays", {}, [(2, 4)], {}),
    ("Same", {"a": [1, 2]}, [(2, 4)], {}),
    ("Same", {"b": [1, 2]}, [(2, 4)], {}),
]
