"""Recurrent layers one above the other: the loop makes the cells, and the call what goes over time around each."""

import jax.numpy as jnp
from flax import linen as nn


class Stacked(nn.Module):
    hidden: int = 6
    layers: int = 2

    @nn.compact
    def __call__(self, x):
        for _ in range(self.layers):
            x = nn.RNN(nn.LSTMCell(self.hidden))(x)
        return nn.Dense(3)(x)


class Named(nn.Module):
    sizes: tuple = (4, 5)

    @nn.compact
    def __call__(self, x):
        for i, size in enumerate(self.sizes):
            cell = nn.GRUCell(size, name=f"cell{i}")
            x = nn.RNN(cell, reverse=i % 2 == 1, keep_order=True)(x)
        return nn.Dense(3)(x)


class BothWays(nn.Module):
    @nn.compact
    def __call__(self, x):
        for _ in range(2):
            forward = nn.RNN(nn.OptimizedLSTMCell(4))(x)
            backward = nn.RNN(nn.OptimizedLSTMCell(4), reverse=True, keep_order=True)(x)
            x = jnp.concatenate([forward, backward], -1)
        return nn.Dense(3)(x)


class OneBefore(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.RNN(nn.SimpleCell(3))(x)
        for _ in range(2):
            x = x + nn.RNN(nn.SimpleCell(3))(x)
        return x


CASES = [
    ("Stacked", {}, [(2, 3, 5)], {}),
    ("Stacked", {"layers": 3}, [(2, 3, 6)], {}),
    ("Named", {}, [(2, 3, 5)], {}),
    ("BothWays", {}, [(2, 3, 5)], {}),
    ("OneBefore", {}, [(2, 3, 5)], {}),
]
