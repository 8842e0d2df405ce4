"""Comprehensions whose items are layers or functions by the number of the pass: `nn.Dense(n) if i % 2 == 0 else nn.relu`."""

from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn


class Alternating(nn.Module):
    node: int = 4
    hidden: int = 2

    @nn.compact
    def __call__(self, feature):
        return nn.Sequential(
            [nn.Dense(self.node) if i % 2 == 0 else jax.nn.relu for i in range(2 * self.hidden)] + [nn.Dense(1)]
        )(feature)


class ByField(nn.Module):
    """The layer is a field's, and another follows with what the last pass leaves."""

    node: int = 4
    hidden: int = 2
    layer: Any = nn.Dense

    @nn.compact
    def __call__(self, feature, actions):
        x = jnp.concatenate([feature, actions], axis=1)
        x = nn.Sequential([self.layer(self.node) if i % 2 == 0 else jax.nn.elu for i in range(2 * self.hidden - 1)])(x)
        return self.layer(3)(x), self.layer(2, use_bias=False)(x)


class OfTwoLayers(nn.Module):
    hidden: int = 4

    @nn.compact
    def __call__(self, x):
        layers = [nn.Dense(4 + i) if i % 2 == 0 else nn.LayerNorm() for i in range(self.hidden)]
        for layer in layers:
            x = layer(x)
        return nn.Dense(2)(x)


class ByFlag(nn.Module):
    wide: bool = False

    @nn.compact
    def __call__(self, x):
        layers = [nn.Dense(4) if self.wide else nn.relu for _ in range(2)]
        for layer in layers:
            x = layer(x)
        return nn.Dense(2)(x)


CASES = [
    ("Alternating", {}, [(2, 5)], {}),
    ("ByField", {}, [(2, 5), (2, 3)], {}),
    ("OfTwoLayers", {}, [(2, 5)], {}),
    ("ByFlag", {}, [(2, 5)], {}),
    ("ByFlag", {"wide": True}, [(2, 5)], {}),
    ("Alternating", {"hidden": 1}, [(2, 5)], {}),
    ("Alternating", {"hidden": 0}, [(2, 5)], {}),
    ("OfTwoLayers", {"hidden": 3}, [(2, 5)], {}),
]
