"""Inputs whose number of dimensions only a guess tells: one that takes no batch for a size; `CASES` as in forms_basic."""

import jax.numpy as jnp
from flax import linen as nn


class MeanOverSpace(nn.Module):
    """With three dimensions the head would be as wide as the batch."""

    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(4)(x))
        x = jnp.mean(x, axis=(1, 2))
        return nn.Dense(3)(x)


class Flattened(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(4)(x))
        x = x.reshape((x.shape[0], -1))
        return nn.Dense(3)(x)


class UnbatchedMean(nn.Module):
    """The batch is a size here, whatever is guessed."""

    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(4)(x))
        return nn.Dense(3)(x.mean(axis=1).T)


class PartOfGuess(nn.Module):
    features: int

    @nn.compact
    def __call__(self, x):
        w = self.param("w", nn.initializers.normal(0.3), (x.shape[1] * x.shape[2],))
        return nn.Dense(self.features)(x * w.reshape(x.shape[1:]))


class WholeOfGuess(nn.Module):
    """Gives the part a shape, and so takes the same number of dimensions for granted."""

    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(4)(x))
        return PartOfGuess(5)(x)


CASES = [
    ("WholeOfGuess", {}, [(2, 5, 6)], {}),
    ("MeanOverSpace", {}, [(2, 5, 6, 7)], {}),
    ("Flattened", {}, [(2, 5, 7)], {}),
    ("UnbatchedMean", {}, [(2, 5, 7)], {}),
]
