"""Functions that make modules, in fields: their layers are those of the class that calls the field."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from flax import linen as nn


class Tag(nn.Module):
    @nn.compact
    def __call__(self, x):
        return x


def attend(q, k, *, scale=1.0, tagged=True):
    weights = jax.nn.softmax(jnp.einsum("nd,md->nm", q, k) * scale)
    if tagged:
        weights = Tag(name="weights")(weights)
    return jnp.einsum("nm,md->nd", weights, k)


def mean(q, k, *, scale=1.0):
    return q + k.mean(0) * scale


def widen(x, width=6):
    return nn.relu(nn.Dense(width)(x))


def narrow(x, width=6):
    return nn.LayerNorm()(nn.Dense(width, use_bias=False)(x))


def keep(x, width=6):
    return jnp.tile(x[..., :1], width)


def dropped(x, rate, deterministic):
    return nn.Dropout(rate)(x * 2, deterministic=deterministic)


def normed(x, train):
    return nn.BatchNorm(use_running_average=not train)(x)


class Attention(nn.Module):
    fn: Callable = attend

    @nn.compact
    def __call__(self, x):
        h = nn.Dense(4)(x)
        return nn.Dense(3)(self.fn(h, h, scale=0.5))


class Widening(nn.Module):
    """What the field holds gives another width, which the next layer is for."""

    fn: Callable = widen

    @nn.compact
    def __call__(self, x):
        x = self.fn(x, width=5)
        return nn.Dense(2)(x)


class Twice(nn.Module):
    fn: Callable = widen

    @nn.compact
    def __call__(self, x):
        x = self.fn(x)
        x = nn.Dense(4)(x)
        return self.fn(x, 3)


class Looped(nn.Module):
    fn: Callable = widen
    depth: int = 2

    @nn.compact
    def __call__(self, x):
        for _ in range(self.depth):
            x = x + self.fn(x, 3)
        return nn.Dense(2)(x)


class Returned(nn.Module):
    fn: Callable = narrow

    @nn.compact
    def __call__(self, x):
        return self.fn(nn.Dense(4)(x))


class Dropping(nn.Module):
    fn: Callable = dropped
    rate: float = 0.5

    @nn.compact
    def __call__(self, x, train=False):
        x = self.fn(nn.Dense(4)(x), self.rate, deterministic=not train)
        return nn.Dense(3)(x)


class Normed(nn.Module):
    fn: Callable = normed

    @nn.compact
    def __call__(self, x, train: bool = False):
        return nn.Dense(3)(self.fn(x, train))


class InHelper(nn.Module):
    fn: Callable = widen

    def mixed(self, x, width):
        return self.fn(x, width) + 1

    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(self.mixed(x, 4))


class Optional(nn.Module):
    fn: Callable | None = None

    @nn.compact
    def __call__(self, x):
        if self.fn is not None:
            x = self.fn(x)
        return nn.Dense(2)(x)


class Giving(nn.Module):
    """Of two functions that the file gives, one makes layers."""

    @nn.compact
    def __call__(self, x):
        return Optional(fn=narrow)(x) + Optional(fn=keep)(x) + Optional()(x)


CASES = [
    ("Attention", {}, [(2, 3)], {}),
    ("Attention", {"fn": mean}, [(2, 3)], {}),
    ("Widening", {}, [(2, 3)], {}),
    ("Widening", {"fn": keep}, [(2, 3)], {}),
    ("Twice", {}, [(2, 3)], {}),
    ("Twice", {"fn": keep}, [(2, 3)], {}),
    ("Looped", {}, [(2, 3)], {}),
    ("Looped", {"fn": keep}, [(2, 3)], {}),
    ("Returned", {}, [(2, 3)], {}),
    ("Returned", {"fn": keep}, [(2, 3)], {}),
    ("Dropping", {}, [(2, 3)], {}),
    ("Dropping", {"rate": 0.0}, [(2, 3)], {"train": True}),
    ("Normed", {}, [(2, 3)], {}),
    ("InHelper", {}, [(2, 3)], {}),
    ("InHelper", {"fn": keep}, [(2, 3)], {}),
    ("Optional", {}, [(2, 3)], {}),
    ("Giving", {}, [(2, 3)], {}),
]
