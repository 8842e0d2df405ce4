"""Inputs without a default that the code asks for: callers give None, and what is made for them is then not there."""

import jax.numpy as jnp
from flax import linen as nn


class Layer(nn.Module):
    width: int = 6

    @nn.compact
    def __call__(self, x, mask, memory, deterministic=True):
        y = nn.Dense(self.width)(nn.LayerNorm()(x))
        if mask is not None:
            y = y * mask
        x = x + y
        if memory is not None:
            h = nn.LayerNorm(name="pre")(x)
            x = x + nn.MultiHeadDotProductAttention(num_heads=2, name="cross")(h, memory)
        return x


class Stack(nn.Module):
    @nn.compact
    def __call__(self, x, mask=None, memory=None):
        for i in range(2):
            x = Layer(x.shape[-1])(x, mask, memory)
        return x


class Without(nn.Module):
    @nn.compact
    def __call__(self, x):
        return Layer(x.shape[-1])(x, None, None)


class With(nn.Module):
    @nn.compact
    def __call__(self, x, m):
        return Layer(x.shape[-1])(x, None, m)


CASES = [
    ("Without", {}, [(2, 3, 6)], {}),
    ("With", {}, [(2, 3, 6), (2, 4, 5)], {}),
    ("Stack", {}, [(2, 3, 6)], {"memory": jnp.ones((2, 4, 5))}),
    ("Layer", {}, [(2, 3, 6), (2, 3, 1), (2, 4, 5)], {}),
]
