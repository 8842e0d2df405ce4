"""Reshapes to all that is left, in a module of their own: the sizes count without the dimensions that are kept."""

import jax.numpy as jnp
from flax import linen as nn


class Flatten(nn.Module):
    @nn.compact
    def __call__(self, x):
        return x.reshape((x.shape[0], -1))


class FlattenImage(nn.Module):
    @nn.compact
    def __call__(self, x):
        return x.reshape((x.shape[0], x.shape[1], -1))


class Classifier(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(Flatten()(x))


class Critic(nn.Module):
    @nn.compact
    def __call__(self, x, action):
        x = jnp.concatenate([Flatten()(x), action], -1)
        return nn.Dense(1)(nn.relu(nn.Dense(4)(x)))


class Outer(nn.Module):
    @nn.compact
    def __call__(self, x, action):
        return Critic()(x, action)


class Convolved(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(Flatten()(nn.Conv(3, (3, 3))(x)))


class Rows(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(FlattenImage()(x))


CASES = [
    ("Classifier", {}, [(4, 6, 2)], {}),
    ("Critic", {}, [(4, 6, 2), (4, 3)], {}),
    ("Outer", {}, [(4, 6), (4, 3)], {}),
    ("Convolved", {}, [(2, 4, 5, 3)], {}),
    ("Rows", {}, [(2, 4, 5, 3)], {}),
]
