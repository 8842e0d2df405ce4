"""Functions applied to several arrays at once; sizes that the last iteration of a loop leaves behind."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from flax import linen as nn


class MappedLambda(nn.Module):
    @nn.compact
    def __call__(self, h):
        residual = h
        h = nn.GroupNorm(2)(h)
        q, k, v = nn.Conv(h.shape[-1], [1, 1])(h), nn.Conv(h.shape[-1], [1, 1])(h), nn.Conv(h.shape[-1], [1, 1])(h)
        q, k, v = map(lambda x: x.reshape(x.shape[0], -1, x.shape[-1]), [q, k, v])
        w = jax.nn.softmax(jnp.einsum("bqd,bkd->bqk", q, k) * h.shape[-1] ** -0.5, axis=-1)
        h = jnp.einsum("bqk,bkd->bqd", w, v)
        h = nn.Dense(h.shape[-1])(h)
        return h.reshape(residual.shape) + residual


class MappedMethod(nn.Module):
    heads: int = 2

    def split(self, x):
        return x.reshape(x.shape[0], x.shape[1], self.heads, -1)

    def merge(self, x, keep=True):
        return x.reshape(x.shape[0], x.shape[1], -1)

    @nn.compact
    def __call__(self, x):
        q, k, v = nn.Dense(8)(x), nn.Dense(8)(x), nn.Dense(8)(x)
        q, k, v = jax.tree_util.tree_map(self.split, (q, k, v))
        q, (k, v) = jax.tree.map(nn.relu, [q, (k, v)])
        q, k, v = map(self.merge, (q, k, v))
        return nn.Dense(k.shape[-1])(q) + v


class AfterLoops(nn.Module):
    ch: int
    mults: Sequence[int]

    def setup(self):
        self.filters = self.ch

    @nn.compact
    def __call__(self, x):
        x = nn.Conv(self.filters, (3, 3))(x)
        n = len(self.mults)
        for i in range(n):
            filters = self.filters * self.mults[i]
            for _ in range(2):
                x = nn.Conv(filters, (3, 3))(x)
            if i < n - 1:
                x = nn.Conv(filters, (3, 3), strides=(2, 2))(x)
        x = nn.Conv(filters, (3, 3))(x)
        return nn.Dense(filters)(x)


class AfterConditions(nn.Module):
    ch: int
    mults: Sequence[int]

    @nn.compact
    def __call__(self, x):
        for i, m in enumerate(self.mults):
            width = self.ch * m
            if i > 0:
                extra = width + 1
                x = nn.Dense(extra)(x)
            x = nn.Dense(width)(x)
        x = nn.Dense(width)(x)
        return nn.Dense(2)(nn.Dense(extra)(x))


class AfterInnerLoops(nn.Module):
    ch: int
    mults: Sequence[int]

    @nn.compact
    def __call__(self, x):
        w = 3
        widths = [self.ch * w for w in self.mults]
        for n in widths:
            w = n + 1
            for k in range(2):
                v = n * 2 + k
            x = nn.Dense(v)(x)
        return nn.Dense(2)(nn.Dense(w)(nn.Dense(v)(x)))


CASES = [
    ("MappedLambda", {}, [(2, 4, 4, 6)], {}),
    ("MappedMethod", {}, [(2, 3, 4)], {}),
    ("AfterLoops", {"ch": 4, "mults": (1, 2)}, [(2, 8, 8, 3)], {}),
    ("AfterConditions", {"ch": 3, "mults": (1, 2)}, [(2, 4)], {}),
    ("AfterInnerLoops", {"ch": 3, "mults": (1, 2)}, [(2, 4)], {}),
]
