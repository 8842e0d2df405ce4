"""Loops over pairs that bind one name: `pair[1]` is a size like `size` of `for i, size in enumerate(sizes)`."""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from flax import linen as nn


class Counted(nn.Module):
    sizes: Sequence[int] = (2, 3)

    @nn.compact
    def __call__(self, x):
        for pair in enumerate(self.sizes):
            x = nn.Dense(pair[0] + pair[1])(x)
        return x


class Side(nn.Module):
    sizes: Sequence[int] = (2, 3)

    @nn.compact
    def __call__(self, x):
        outs = []
        for pair in zip(self.sizes, self.sizes):
            outs.append(nn.Dense(pair[0] * pair[1])(x))
            pair = (1, 1)
        return nn.Dense(3)(jnp.concatenate(outs, -1))


class OfSetup(nn.Module):
    sizes: Sequence[int] = (2, 3)

    def setup(self):
        self.layers = [nn.Dense(pair[1]) for pair in enumerate(self.sizes)]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Nested(nn.Module):
    sizes: Any = ((2, 3), (4, 5))

    @nn.compact
    def __call__(self, x):
        for pair in zip(self.sizes, (1, 2)):
            x = nn.Dense(pair[0][1] * pair[1])(x)
        return x


class Rest(nn.Module):
    sizes: Sequence[int] = (2, 3)

    @nn.compact
    def __call__(self, x):
        for first, *others in zip(self.sizes, self.sizes, self.sizes):
            x = nn.Dense(first + others[0])(x)
        return x


CASES = [(name, {}, [(2, 4)], {}) for name in ("Counted", "Side", "OfSetup", "Nested", "Rest")]
CASES += [("Side", {"sizes": (3, 1, 2)}, [(2, 4)], {})]
