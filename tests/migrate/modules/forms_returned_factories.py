"""Functions that return a layer with some of its arguments: `norm = norm_of(train)`, then `norm()(x)`."""

import functools

import jax.numpy as jnp
from flax import linen as nn

EPSILON = 1e-3


def norm_of(train):
    norm = functools.partial(nn.BatchNorm, use_running_average=not train)
    return norm


def layer_norm(use_scale=True):
    return functools.partial(nn.LayerNorm, epsilon=EPSILON, use_scale=use_scale)


def called_norm(training):
    return functools.partial(nn.BatchNorm, use_running_average=not training, momentum=0.8)


def dense_of(scale, features=5):
    """Positional arguments, and one that the caller has."""
    return functools.partial(nn.Dense, features, kernel_init=nn.initializers.constant(2.0), bias_init=nn.initializers.constant(scale))


class ByField(nn.Module):
    inference: bool = True

    @nn.compact
    def __call__(self, x):
        norm = norm_of(train=not self.inference)
        return norm()(nn.Dense(3)(norm(name="first")(x)))


class ByCall(nn.Module):
    @nn.compact
    def __call__(self, x, inference=True):
        norm = called_norm(not inference)
        return norm()(nn.Dense(3)(norm(name="first")(x)))


class Constants(nn.Module):
    @nn.compact
    def __call__(self, x):
        norm = layer_norm(use_scale=False)
        x = norm()(nn.Dense(3)(x))
        return layer_norm()(use_bias=False)(jnp.tanh(x))


class Positional(nn.Module):
    scale: float = 0.5

    @nn.compact
    def __call__(self, x):
        dense = dense_of(self.scale)
        x = dense()(x)
        return dense_of(2.0, features=2)(use_bias=True)(x)


CASES = [
    ("ByField", {}, [(2, 3)], {}),
    ("ByField", {"inference": False}, [(2, 3)], {}),
    ("ByCall", {}, [(2, 3)], {}),
    ("ByCall", {}, [(2, 3)], {"inference": False}),
    ("Constants", {}, [(2, 3)], {}),
    ("Positional", {}, [(2, 3)], {}),
]
SAME_START = ("Positional",)  # its first values are no draws
