"""Variables that start from what another variable starts from, and limits of dtypes as numbers."""

from __future__ import annotations

import math

import flax.linen as nn
import jax
import jax.numpy as jnp
from einops import repeat


class Codebook(nn.Module):
    codes: int
    width: int
    decay: float = 0.9

    @nn.compact
    def __call__(self, z, train: bool = False):
        flat = z.reshape(-1, self.width)
        book = self.variable("vq", "embedding", lambda: jnp.sin(jnp.arange(self.codes * self.width * 1.0)).reshape(-1, self.width))
        count = self.variable("vq", "count", jnp.ones, (self.codes,))
        average = self.variable("vq", "average", lambda: book.value)
        distances = ((flat[:, None] - book.value[None]) ** 2).sum(-1)
        hits = jax.nn.one_hot(distances.argmin(-1), self.codes)
        if train and not self.is_initializing():
            count.value = self.decay * count.value + (1 - self.decay) * hits.sum(0)
            average.value = self.decay * average.value + (1 - self.decay) * hits.T @ flat
            book.value = average.value / count.value[:, None]
        return (hits @ book.value).reshape(z.shape)


class CodebookOfSetup(nn.Module):
    codes: int = 3

    def setup(self):
        self.book = self.variable("vq", "embedding", lambda: jnp.arange(self.codes * 4.0).reshape(self.codes, 4))
        self.average = self.variable("vq", "average", lambda: 2 * self.book.value)

    def __call__(self, x):
        self.average.value = self.average.value + x.mean()
        return x @ (self.book.value + self.average.value).T


class StartsBySize(nn.Module):
    @nn.compact
    def __call__(self, x):
        low = self.variable("range", "low", jnp.zeros, (x.shape[-1],))
        high = self.variable("range", "high", lambda v: v + 1, low.value)
        copied = self.variable("range", "copied", jnp.zeros_like, high.value)
        high.value = jnp.maximum(high.value, x.max((0, 1)))
        copied.value = copied.value + high.value
        return jnp.clip(x, low.value, high.value) + copied.value


class UnderAFlag(nn.Module):
    track: bool = True

    @nn.compact
    def __call__(self, x):
        if self.track:
            mean = self.variable("stats", "mean", lambda: jnp.full((x.shape[-1],), 0.5))
            first = self.variable("stats", "first", lambda: mean.value * 2)
            x = x - mean.value + first.value
            mean.value = 0.9 * mean.value + 0.1 * x.mean((0, 1))
        return nn.Dense(3)(x)


class HeldUnderOtherNames(nn.Module):
    width: int = 4

    def setup(self):
        self.shadow_ = self.variable("vq", "shadow", jnp.ones, (self.width,))
        self.twice = self.variable("vq", "double", lambda scale: scale * self.shadow_.value, 2.0)

    @nn.compact
    def __call__(self, x):
        third = self.variable("vq", "third", lambda: self.twice.value - 1)
        third.value = third.value + x.mean()
        return x * self.shadow_.value + self.twice.value + third.value


class GroupedQueries(nn.Module):
    width: int
    heads: int
    groups: int

    def setup(self):
        self.size = self.width // self.heads
        self.queries = nn.Dense(self.heads * self.size)
        self.keys = nn.Dense(self.groups * self.size)
        self.out = nn.Dense(self.width)
        self.drop = nn.Dropout(0.1)

    def __call__(self, x, mask=None, *, deterministic=True):
        b, t, _ = x.shape
        q = self.queries(x).reshape(b, t, self.heads, -1)
        k = repeat(self.keys(x).reshape(b, t, self.groups, -1), "b t h d -> b t (h g) d", g=self.heads // self.groups)
        weights = jnp.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(self.size)
        if mask is not None:
            weights = jnp.where(mask, weights, jnp.finfo(weights.dtype).min)
        weights = self.drop(nn.softmax(weights), deterministic=deterministic)
        return self.out(jnp.einsum("bhqk,bkhd->bqhd", weights, k).reshape(b, t, -1))


class LimitsOfDtypes(nn.Module):
    dtype: jnp.dtype = jnp.float32

    @nn.compact
    def __call__(self, x):
        lowest = jnp.finfo(self.dtype).min
        x = nn.LayerNorm(epsilon=float(jnp.finfo(self.dtype).eps))(jnp.where(x > 0, x, lowest * 0))
        y = jnp.maximum(x, jnp.finfo(x.dtype).tiny)
        return nn.Dense(2)(jnp.concatenate([x, y + jnp.iinfo(jnp.int32).max * 0], -1))


CASES = [
    ("Codebook", {"codes": 3, "width": 4}, ((2, 3, 4),), {}),
    ("Codebook", {"codes": 3, "width": 4}, ((2, 3, 4), True), {}),
    ("CodebookOfSetup", {}, ((2, 4),), {}),
    ("StartsBySize", {}, ((2, 3, 4),), {}),
    ("UnderAFlag", {}, ((2, 3, 4),), {}),
    ("UnderAFlag", {"track": False}, ((2, 3, 4),), {}),
    ("HeldUnderOtherNames", {}, ((2, 4),), {}),
    ("GroupedQueries", {"width": 8, "heads": 4, "groups": 2}, ((2, 3, 6),), {}),
    ("GroupedQueries", {"width": 8, "heads": 2, "groups": 2}, ((2, 3, 6), [[[[True, False, True]]]]), {}),
    ("LimitsOfDtypes", {}, ((2, 3, 4),), {}),
]
