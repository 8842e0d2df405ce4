"""Factories that a condition chose, called where it is asked again: there is one of them there."""

import functools
from typing import Any

import jax.numpy as jnp
from flax import linen as nn


class Down(nn.Module):
    features: int = 0
    dense: bool = False

    @nn.compact
    def __call__(self, x):
        x = x[:, ::2]
        return nn.Dense(self.features or x.shape[-1])(x) if self.dense else x


class Config:
    def __init__(self, kind, deep=True):
        self.kind, self.deep = kind, deep


def _config(kind, deep=True):
    return Config(kind, deep)


INPUT, RESIDUAL, SHALLOW = _config("Input"), _config("residual"), _config("residual", False)


class AskedAgain(nn.Module):
    config: Any
    width: int = 4

    @nn.compact
    def __call__(self, x):
        kind = self.config.kind.lower()
        if kind == "input":
            down = functools.partial(Down, dense=False)
        elif kind == "residual":
            down = functools.partial(Down, dense=True)
        h = nn.Dense(self.width)(x)
        for _ in range(2):
            h = h[:, ::2]
            if kind == "input":
                x = down()(x)
                h = h + nn.Dense(self.width)(x)
            elif kind == "residual":
                x = down(features=h.shape[-1])(x)
                h = h + x
        return h


class OtherName(nn.Module):
    """The name that the condition asks is bound again between: it is another condition then."""

    config: Any
    width: int = 4

    @nn.compact
    def __call__(self, x):
        deep = self.config.deep
        down = functools.partial(Down, self.width, dense=True) if deep else functools.partial(Down, self.width)
        deep = not deep
        if deep:
            return down()(x)
        return nn.Dense(3)(down()(x))


class Otherwise(nn.Module):
    """One is made on the side that the choice did not ask for, one behind both."""

    config: Any

    @nn.compact
    def __call__(self, x):
        deep = self.config.deep
        layer = nn.Dense if deep else functools.partial(nn.Dense, use_bias=False)
        if not deep:
            x = layer(3)(x)
        else:
            layer = functools.partial(nn.Conv, kernel_size=(1,))
            x = layer(4)(x)
        return layer(5)(x)


class Nested(nn.Module):
    config: Any

    @nn.compact
    def __call__(self, x):
        kind, deep = self.config.kind, self.config.deep
        if kind == "residual":
            layer = functools.partial(nn.Dense, use_bias=False) if deep else nn.DenseGeneral
        else:
            layer = nn.Dense
        if deep:
            if kind == "residual":
                return layer(3)(x) + 1
            return layer(4)(x)
        x = layer(6)(x)
        if kind != "residual":
            x = layer(7)(x)
        return jnp.tanh(x)


class Returned(nn.Module):
    config: Any

    @nn.compact
    def __call__(self, x):
        deep = self.config.deep
        layer = nn.Dense if deep else Down
        if deep:
            return layer(3)(x)
        return layer(4, dense=True)(layer(5)(x))


CASES = [
    ("AskedAgain", {"config": RESIDUAL}, [(2, 8, 3)], {}),
    ("AskedAgain", {"config": INPUT}, [(2, 8, 3)], {}),
    ("OtherName", {"config": RESIDUAL}, [(2, 8, 3)], {}),
    ("OtherName", {"config": SHALLOW}, [(2, 8, 3)], {}),
    ("Otherwise", {"config": RESIDUAL}, [(2, 8, 3)], {}),
    ("Otherwise", {"config": SHALLOW}, [(2, 8, 3)], {}),
    ("Nested", {"config": RESIDUAL}, [(2, 8, 3)], {}),
    ("Nested", {"config": SHALLOW}, [(2, 8, 3)], {}),
    ("Nested", {"config": INPUT}, [(2, 8, 3)], {}),
    ("Returned", {"config": RESIDUAL}, [(2, 8, 3)], {}),
    ("Returned", {"config": SHALLOW}, [(2, 8, 3)], {}),
]
