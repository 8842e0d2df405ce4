"""Columns beside what a library gives, which is a number or a table: nothing is taken to stay one wide."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from flax import linen as nn
from jax.nn.initializers import ones
from numpy.polynomial.chebyshev import chebpts1

POINTS = chebpts1(5)
TABLES = dict(rows=chebpts1(3), more=dict(rows=chebpts1(4)))
SMALL = 1e-3
NAMES = ["a", "b"]


class Scaled(nn.Module):
    n: int
    way: str = "twice"
    rates: Any = None

    @nn.compact
    def __call__(self, t):
        column = t[:, None]
        if self.way == "twice":
            e = column * (2 * chebpts1(self.n))
        elif self.way == "negative":
            e = -chebpts1(self.n) * jnp.expand_dims(t, -1)
        elif self.way == "global":
            e = column + POINTS
        elif self.way == "item":
            e = column * TABLES["rows"]
        elif self.way == "item of an item":
            e = column * (0.5 * TABLES["more"]["rows"])
        elif self.way == "divided":
            e = column / chebpts1(self.n)
        elif self.way == "compared":
            e = jnp.where(column > chebpts1(self.n), 1.0, 0.5)
        else:
            e = column * self.rates
        return self.param("s", ones, (e.shape[-1],)) * e


class Called(nn.Module):
    n: int
    way: str = "outer"

    @nn.compact
    def __call__(self, t):
        if self.way == "outer":
            e = jnp.outer(t, chebpts1(self.n))
        elif self.way == "named":
            e = jnp.outer(b=chebpts1(self.n), a=t)
        elif self.way == "multiply":
            e = jnp.multiply(t[:, None], chebpts1(self.n))
        elif self.way == "add":
            e = jnp.add(2 * chebpts1(self.n), t[:, None])
        elif self.way == "where":
            e = jnp.where(t[:, None] > 0, chebpts1(self.n), t[:, None])
        elif self.way == "maximum":
            e = jnp.maximum(jnp.sum(t, -1, keepdims=True), chebpts1(self.n))
        elif self.way == "clip":
            e = t[:, None].clip(chebpts1(self.n), 2.0)
        elif self.way == "exp":
            e = t[..., None] * jnp.exp(-chebpts1(self.n))
        elif self.way == "cumsum":
            e = t[..., None] * np.cumsum(chebpts1(self.n))
        elif self.way == "arctan2":
            e = jnp.arctan2(t[:, None], POINTS)
        else:
            e = jnp.take(chebpts1(self.n), jnp.arange(self.n - 1))
        return self.param("s", ones, (e.shape[-1],)) * e


class Product(nn.Module):
    n: int
    way: str = "matmul"

    @nn.compact
    def __call__(self, x):
        table = np.outer(chebpts1(x.shape[-1]), np.ones(self.n))
        if self.way == "matmul":
            e = x @ np.diag(chebpts1(self.n))[: x.shape[-1]]
        elif self.way == "dot":
            e = jnp.dot(x, table)
        else:
            e = x.dot(table)
        return nn.Dense(2)(e), self.param("s", ones, (e.shape[-1],))


class Kept(nn.Module):
    n: int

    @nn.compact
    def __call__(self, t):
        s = self.param("a", ones, ()) * chebpts1(self.n)
        h = nn.Dense(1)(t) * (2.0 * chebpts1(self.n))
        return self.param("s", ones, s.shape) * s, nn.Dense(2)(h)


class OneWide(nn.Module):
    """What is a number stays one: fields, constants, their powers and roots."""

    n: int
    scale: float = 2.0
    any: Any = 3

    @nn.compact
    def __call__(self, t):
        e = t[..., None] * np.pi / SMALL * self.scale * (2**self.n) * self.any
        e = jnp.maximum(e, self.scale) + jnp.clip(e, 0, self.n) + jnp.where(e > self.scale, e, self.n)
        e = e * np.sqrt(self.n) * np.log(self.scale) + len(NAMES) + float(self.scale) + int(self.n)
        for i in range(3):
            e = e * 2**i
        return self.param("s", ones, (e.shape[-1],)) * e


SCALED = ["twice", "negative", "global", "item", "item of an item", "divided", "compared"]
CALLED = ["outer", "named", "multiply", "add", "where", "maximum", "clip", "exp", "cumsum", "arctan2", "take"]
CASES = [
    *[("Scaled", {"n": 3, "way": way}, [(4,)], {}) for way in SCALED],
    ("Scaled", {"n": 3, "way": "field", "rates": jnp.arange(6.0)}, [(4,)], {}),
    *[("Called", {"n": 3, "way": way}, [(4,)], {}) for way in CALLED],
    *[("Product", {"n": 5, "way": way}, [(4, 3)], {}) for way in ("matmul", "dot", "method")],
    ("Kept", {"n": 3}, [(4, 2)], {}),
    ("OneWide", {"n": 3}, [(4,)], {}),
    ("OneWide", {"n": 3}, [(4, 2)], {}),
]
