"""Layers that are asked for by a text that the class says itself, and functions that a field names."""

import jax
from flax import linen as nn


class Local(nn.Module):
    act: str = "relu"

    @nn.compact
    def __call__(self, x):
        layer = getattr(nn, "Dense")  # noqa: B009
        act = getattr(nn, self.act)
        return act(layer(4)(x)) + getattr(jax.nn, self.act)(layer(4, use_bias=False)(x))


class InSetup(nn.Module):
    def setup(self):
        self.layers = [getattr(nn, "Dense")(4), getattr(nn, "LayerNorm")()]  # noqa: B009

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


CASES = [("Local", {}, [(2, 3)], {}), ("Local", {"act": "tanh"}, [(2, 3)], {}), ("InSetup", {}, [(2, 3)], {})]
