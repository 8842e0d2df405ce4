"""Arrays of unknown rank that are stacked, treated as one, and taken apart again."""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from flax import linen as nn


class InALoop(nn.Module):
    features: Sequence[int]
    rate: Any = 0.1

    @nn.compact
    def __call__(self, x, c):
        for f in self.features:
            x = nn.Dense(f)(x)
            c = nn.Dense(f)(c)
            x = x + c
            if self.rate is not None:
                c = jnp.broadcast_to(c, x.shape)
                both = jnp.stack([c, x])
                both = nn.Dropout(self.rate)(both, deterministic=True)
                c, x = both
        return nn.Dense(2)(x)


class Pair(nn.Module):
    @nn.compact
    def __call__(self, x, c):
        both = jnp.stack([nn.Dense(4)(c), nn.Dense(4)(x)])
        a, b = nn.relu(both)
        return nn.Dense(2)(a) + nn.Dense(2)(b) + nn.Dense(3)(both).sum()


CASES = [
    ("InALoop", {"features": (3, 4)}, [(2, 3), (2, 5)], {}),
    ("InALoop", {"features": (3, 4), "rate": None}, [(2, 6, 3), (2, 6, 5)], {}),
    ("Pair", {}, [(2, 3), (2, 5)], {}),
]
