"""Products with a matrix on the left whose number of dimensions nothing says: graphs and their adjacency."""

from typing import Sequence

import jax.numpy as jnp
from flax import linen as nn


class GraphLayer(nn.Module):
    features: int

    @nn.compact
    def __call__(self, x, adjacency):
        degree = adjacency.sum(axis=-1, keepdims=True)
        return adjacency @ nn.Dense(self.features)(x) / degree


class GraphNet(nn.Module):
    features: Sequence[int] = (4, 6, 3)

    @nn.compact
    def __call__(self, x, adjacency):
        for features in self.features[:-1]:
            x = nn.relu(GraphLayer(features)(x, adjacency))
        return GraphLayer(self.features[-1])(x, adjacency)


class Stacked(nn.Module):
    @nn.compact
    def __call__(self, x, adjacency):
        x = nn.LayerNorm()(jnp.matmul(adjacency, nn.Dense(5)(x)))
        return nn.Dense(2)(nn.relu(x))


CASES = [
    ("GraphNet", {}, [(7, 4), (7, 7)], {}),
    ("GraphNet", {}, [(2, 7, 4), (2, 7, 7)], {}),
    ("Stacked", {}, [(2, 7, 4), (2, 7, 7)], {}),
    ("Stacked", {}, [(7, 4), (7, 7)], {}),
]
