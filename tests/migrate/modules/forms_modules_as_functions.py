"""Modules without variables where others hand over functions."""

from typing import Any, Callable

import jax
import jax.numpy as jnp
from flax import linen as nn


class Identity(nn.Module):
    @nn.compact
    def __call__(self, x):
        return x


class Swish(nn.Module):
    beta: float = 1.0

    def __call__(self, x):
        return x * jax.nn.sigmoid(self.beta * x)


class FeedForward(nn.Module):
    out: int = 3
    activation: Callable[[jax.Array], jax.Array] = nn.relu

    @nn.compact
    def __call__(self, x):
        return nn.LayerNorm()(self.activation(nn.Dense(self.out)(x)))


class Stack(nn.Module):
    """A function of a field, and modules of two kinds."""

    activation: Callable[[jax.Array], jax.Array] = nn.relu

    @nn.compact
    def __call__(self, x):
        x = FeedForward(4, activation=self.activation)(x)
        x = FeedForward(5, activation=Swish(2.0))(x)
        return FeedForward(3, activation=Identity())(x)


class Attributes(nn.Module):
    """The same in setup."""

    def setup(self):
        self.one = FeedForward(4, activation=nn.gelu)
        self.two = FeedForward(4, activation=Swish(3.0))
        self.act = Identity()
        self.three = FeedForward(5, activation=self.act)

    def __call__(self, x):
        return self.three(self.two(self.one(x)))


class NoDefault(nn.Module):
    """Nothing says that it is a function but what other constructions give."""

    out: int
    act: Any

    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(self.act(nn.Dense(self.out)(x)))


class ModuleFirst(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = NoDefault(4, Swish())(x)
        x = NoDefault(3, jnp.tanh)(x)
        return NoDefault(2, Identity())(x)


class Loop(nn.Module):
    """In a loop, by a condition."""

    depth: int = 3

    @nn.compact
    def __call__(self, x):
        for i in range(self.depth):
            x = FeedForward(4, activation=Swish())(x)
        return x


CASES = [
    ("FeedForward", {}, [(2, 4)], {}),
    ("Stack", {}, [(2, 4)], {}),
    ("Stack", {"activation": jnp.tanh}, [(2, 4)], {}),
    ("Attributes", {}, [(2, 4)], {}),
    ("ModuleFirst", {}, [(2, 4)], {}),
    ("Loop", {}, [(2, 4)], {}),
]
