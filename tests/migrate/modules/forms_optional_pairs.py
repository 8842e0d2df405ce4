"""Attributes that are None, or two parameters under a condition (low-rank additions to a weight)."""

from typing import Any

import jax.numpy as jnp
from flax import linen as nn


class LowRank(nn.Module):
    features: int
    rank: Any = None

    def setup(self):
        self.w = self.param("w", nn.initializers.lecun_normal(), (self.features, self.features))
        self.pair = None
        self.other = ()
        if self.rank:
            # Beside the weight.
            self.pair = (
                self.param("w_a", nn.initializers.ones, (self.features, self.rank)),
                self.param("w_b", nn.initializers.ones, (self.rank, self.features)),
            )
            self.other = (self.param("c", nn.initializers.ones, (self.features,)),)

    def __call__(self, x):
        y = self._dot(x, self.pair)
        return y if not self.other else y * self.other[0]

    def _dot(self, x, pair):
        base = jnp.dot(x, self.w)
        if pair is None:
            return base
        return base + jnp.dot(jnp.dot(x, pair[0]), pair[1])


class OneOfTwo(nn.Module):
    rank: Any = None

    def setup(self):
        if self.rank is None:
            self.pair = None
        else:
            self.pair = [
                self.param("a", nn.initializers.ones, (3, self.rank)),
                self.param("b", nn.initializers.ones, (self.rank, 3)),
            ]

    @nn.compact
    def __call__(self, x):
        return x if self.pair is None else x @ self.pair[0] @ self.pair[1]


CASES: list[Any] = [
    ("LowRank", {"features": 3}, [(2, 3)], {}),
    ("LowRank", {"features": 3, "rank": 2}, [(2, 3)], {}),
    ("OneOfTwo", {"rank": 2}, [(2, 3)], {}),
]
