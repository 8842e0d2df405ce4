"""Parameters of parts that compact methods make, read by their names; ranks that a caller shows."""

import flax.linen as nn
import jax
import jax.numpy as jnp
from typing import Any


class Words(nn.Module):
    vocab: int
    size: int

    @nn.compact
    def __call__(self, i):
        i = jnp.abs(i * 3).astype(int)
        return nn.LayerNorm()(nn.Embed(self.vocab, self.size, name="words")(i)) + nn.Embed(7, self.size)(i)


class Head(nn.Module):
    hidden: int

    @nn.compact
    def __call__(self, x, table):
        x = nn.Dense(self.hidden)(x)
        y = x @ jnp.transpose(table)
        return nn.Dense(3)(y)


class Lm(nn.Module):
    vocab: int = 7
    size: int = 4

    @nn.compact
    def __call__(self, i):
        i = jnp.abs(i * 3).astype(int)
        x = Words(self.vocab, self.size)(i)
        for _ in range(2):
            x = nn.Dense(self.size)(x)
        table = self.variables["params"]["Words_0"]["words"]["embedding"]
        return Head(self.size)(x, table=table)


class Deeper(nn.Module):
    @nn.compact
    def __call__(self, i):
        i = jnp.abs(i * 3).astype(int)
        x = Words(7, 4)(i)
        y = Words(7, 5)(i)
        z = Words(7, 5, name="third")(i)
        t = self.variables["params"]["Words_1"]["Embed_0"]["embedding"]
        u = self.variables["params"]["third"]["words"]["embedding"]
        return nn.Dense(3)(x), nn.Dense(2)(y @ t.T), Head(5)(z, u)


class Codes(nn.Module):
    size: int = 6

    @nn.compact
    def __call__(self, x):
        book = self.param("book", nn.initializers.normal(), (self.size, x.shape[-1]))
        i = jnp.argmin(jnp.sum((x[..., None, :] - book) ** 2, -1), -1)
        one = jax.nn.one_hot(i, self.size)
        return self.quantize(one), i

    def quantize(self, z):
        book = jnp.asarray(self.variables["params"]["book"], dtype=jnp.float32)
        return jnp.dot(z, book)


class Uses(nn.Module):
    def setup(self):
        self.codes = Codes()
        self.out = nn.Dense(3)

    def __call__(self, x):
        q, i = self.codes(x)
        return self.out(q)


class Twice(nn.Module):
    def emb(self, i):
        return nn.Embed(7, 4)(i)

    @nn.compact
    def __call__(self, i):
        i = jnp.abs(i * 3).astype(int)
        x = self.emb(i) + self.emb(i)
        return x @ self.variables["params"]["Embed_1"]["embedding"].T


class Sub(nn.Embed):
    pass


class UsesSub(nn.Module):
    @nn.compact
    def __call__(self, i):
        i = jnp.abs(i * 3).astype(int)
        x = nn.Embed(7, 3)(i)
        y = Sub(7, 4)(i)
        return x, y @ self.variables["params"]["Sub_0"]["embedding"].T


class Named(nn.Module):
    @nn.compact
    def __call__(self, x):
        y = nn.Dense(4, name="d")(x)
        return y + self.variables["params"]["d"]["bias"]


CASES: list[tuple[Any, ...]] = [
    ("Lm", {}, [(2, 3)], {}),
    ("Deeper", {}, [(2, 3)], {}),
    ("Uses", {}, [(2, 3)], {}),
    ("Named", {}, [(2, 3)], {}),
    ("Twice", {}, [(2, 3)], {}),
    ("UsesSub", {}, [(2, 3)], {}),
]
