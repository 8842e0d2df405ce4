"""Partials of functions that make layers for the class that calls them."""

import functools

import jax.numpy as jnp
from flax import linen as nn


def block(x, features, act=nn.relu, use_bias=True):
    x = nn.Dense(features, use_bias=use_bias)(x)
    return act(x)


def chain(n, act=None, last=None):
    layers = [nn.Dense(n)]
    if act is not None:
        layers.append(act)
    if last is not None:
        layers.append(last)
    return nn.Sequential(layers)


tanh_block = functools.partial(block, act=jnp.tanh)
biasless = functools.partial(tanh_block, use_bias=False)


class OfTheFile(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = tanh_block(x, 8)
        x = biasless(x, 3)
        return tanh_block(x, 4, act=nn.gelu)


class OfTheMethod(nn.Module):
    width: int = 6

    @nn.compact
    def __call__(self, x, double=False):
        wide = functools.partial(block, features=self.width, act=nn.gelu)
        x = wide(x)
        x = wide(x, features=3)
        x = wide(x, use_bias=False)
        return x * 2 if double else x


class InALoop(nn.Module):
    width: int = 5

    @nn.compact
    def __call__(self, x):
        made = functools.partial(block, act=jnp.tanh)
        for _ in range(3):
            x = made(x, self.width)
        return x


class OfAMethod(nn.Module):
    def part(self, x, n, scale):
        return nn.Dense(n)(x) * scale

    @nn.compact
    def __call__(self, x):
        half = functools.partial(self.part, scale=0.5)
        return half(half(x, 4), n=3)


class InSetup(nn.Module):
    def setup(self):
        made = functools.partial(chain, last=nn.tanh)
        self.a = made(4)
        self.b = made(3, nn.relu)

    def __call__(self, x):
        return self.b(self.a(x))


class CalledAtOnce(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = functools.partial(block, act=nn.gelu)(x, 5)
        return functools.partial(tanh_block, features=3)(x, use_bias=False)


class OfATableOfPartials(nn.Module):
    kind: str = "tanh"

    def part(self, x, n, scale):
        return nn.Dense(n)(x) * scale

    @nn.compact
    def __call__(self, x, shift=0.0):
        kinds = {"tanh": tanh_block, "half": functools.partial(self.part, scale=0.5)}
        return kinds[self.kind](x + shift, 4)


class OfSetupAtOnce(nn.Module):
    def setup(self):
        self.a = functools.partial(chain, act=nn.relu)(3)

    def __call__(self, x):
        return self.a(x)


CASES = [
    ("CalledAtOnce", {}, [(2, 3)], {}),
    ("OfATableOfPartials", {}, [(2, 3)], {}),
    ("OfSetupAtOnce", {}, [(2, 3)], {}),
    ("OfATableOfPartials", {"kind": "half"}, [(2, 3)], {"shift": 2.0}),
    ("OfTheFile", {}, [(2, 3)], {}),
    ("OfTheMethod", {}, [(2, 3)], {}),
    ("InALoop", {}, [(2, 3)], {}),
    ("OfTheMethod", {"width": 3}, [(2, 3)], {"double": True}),
    ("OfAMethod", {}, [(2, 3)], {}),
    ("InSetup", {}, [(2, 3)], {}),
]
