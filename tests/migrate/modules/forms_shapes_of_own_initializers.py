"""Parameters whose initializers are functions of the class's own, given a number or making several arrays."""

from functools import partial
from typing import Callable

import jax.numpy as jnp
from flax import linen as nn
from jax.nn.initializers import ones, zeros


def rows(key, n, d=4):
    return jnp.ones((n, d)) / 2


def pair(key, n, d):
    return jnp.ones((n, d)) / 2, jnp.ones((d,))


def maker(d):
    def init(key, n):
        return jnp.ones((n, d)) / 2

    return init


def grown(key, shape):
    return jnp.ones(tuple(shape) + (2,))


def by_table(key, n):
    return jnp.asarray(TABLES[0](n))


TABLES = [lambda n: [[0.5] * 3] * n]


class Numbered(nn.Module):
    d: int
    made: Callable = rows

    @nn.compact
    def __call__(self, x):
        a = self.param("a", rows, x.shape[-1])
        b = self.param("b", maker(self.d), x.shape[-1])
        c = self.param("c", self.own, x.shape[-1])
        e = self.param("e", self.shared, x.shape[-1])
        sizes = self.param("of_a", ones, a.shape), self.param("of_b", ones, b.shape)
        sizes += self.param("of_c", ones, c.shape), self.param("of_e", ones, e.shape)
        return nn.Dense(a.shape[-1])(x), nn.Dense(b.shape[-1])(x @ b), nn.Dense(c.shape[-1])(x @ c), sizes

    def own(self, key, n):
        return jnp.ones((n, self.d)) / 2

    @staticmethod
    def shared(key, n):
        return jnp.ones((n, 2)) / 2


class Unknown(nn.Module):
    """What the function makes is not known: the class finds it when it is called on shapes."""

    d: int
    made: Callable = rows

    @nn.compact
    def __call__(self, x):
        a = self.param("a", partial(rows, d=self.d), x.shape[-1])
        b = self.param("b", self.made, x.shape[-1])
        c = self.param("c", by_table, x.shape[-1])
        sizes = self.param("of_a", ones, a.shape), self.param("of_b", ones, b.shape), self.param("of_c", ones, c.shape)
        return x @ a, x @ b, x @ c, sizes


class OfLibrary(nn.Module):
    d: int
    scale_init: Callable = ones

    @nn.compact
    def __call__(self, x):
        a = self.param("a", ones, x.shape[-1])
        b = self.param("b", nn.initializers.zeros_init(), self.d)
        c = self.param("c", self.scale_init, self.d)
        return x * self.param("d", ones, a.shape), self.param("e", zeros, b.shape), self.param("f", zeros, c.shape)


class Several(nn.Module):
    d: int

    @nn.compact
    def __call__(self, x):
        a, b = self.param("a", self.two, x.shape[-1])
        c, e = self.param("c", pair, x.shape[-1], self.d)
        both = self.param("f", self.two, x.shape[-1])
        g = self.param("g", ones, a.shape), self.param("h", ones, c.shape), self.param("i", ones, both[0].shape)
        return nn.Dense(a.shape[-1])(x) + b.sum(), nn.Dense(c.shape[-1])(x) + e.sum(), g

    def two(self, key, n):
        made = jnp.ones((n, self.d)) / 2
        return made, made[0]


class SeveralOfSetup(nn.Module):
    d: int

    def setup(self):
        self.a, self.b = self.param("a", self.two, self.d)
        self.c = self.param("c", ones, self.a.shape)

    def __call__(self, x):
        return x @ self.a + self.b, self.c

    def two(self, key, n):
        return jnp.ones((n, self.d)) / 2, jnp.ones((n,))


class Grown(nn.Module):
    @nn.compact
    def __call__(self, x):
        a = self.param("a", grown, x.shape)
        return a * self.param("b", ones, a.shape)


class Ends(nn.Module):
    """`(x.shape[-1],)` is the shape of an `x` of one dimension only."""

    d: int

    @nn.compact
    def __call__(self, x):
        a = self.param("a", ones, (x.shape[-1],))
        b = self.param("b", zeros, a.shape)
        h = nn.Dense(x.shape[-1])(x)
        c = self.param("c", ones, (h.shape[-2], h.shape[-1]))
        f = self.param("f", zeros, jnp.ones((x.shape[-2], x.shape[-1])).shape)
        return x * a + b, h * self.param("e", ones, c.shape) + f


CASES = [
    ("Numbered", {"d": 5}, [(2, 3)], {}),
    ("Unknown", {"d": 5}, [(2, 3)], {}),
    ("Unknown", {"d": 5}, [(7, 2, 3)], {}),
    ("OfLibrary", {"d": 5}, [(2, 3)], {}),
    ("OfLibrary", {"d": 5}, [(7, 2, 3)], {}),
    ("Grown", {}, [(2, 3)], {}),
    ("Grown", {}, [(4, 2, 3)], {}),
    ("Ends", {"d": 5}, [(2, 3)], {}),
    ("Ends", {"d": 5}, [(4, 2, 3)], {}),
]
