"""Widths that a reshape infers where batches and lengths cancel: blocks of a length, masked sums, several inputs."""

import jax.numpy as jnp
from flax import linen as nn


class Blocks(nn.Module):
    heads: int = 2
    block: int = 4

    @nn.compact
    def __call__(self, x, mask):
        b, n, c = x.shape
        q = nn.Dense(c, name="q")(x).reshape(b, n, self.heads, -1).transpose(0, 2, 1, 3)
        v = nn.Dense(c, name="v")(x).reshape(b, n, self.heads, -1).transpose(0, 2, 1, 3)
        q = q.reshape(b, self.heads, n // self.block, self.block, -1)
        v = v.reshape(b, self.heads, n // self.block, self.block, -1)
        weights = nn.softmax(jnp.einsum("bhlqd,bhlkd->bhlqk", q, v))
        out = jnp.einsum("bhlqk,bhlkd->bhlqd", weights, v)
        out = out.reshape(b, self.heads, n, -1) * mask.reshape(mask.shape[0], 1, mask.shape[1], 1)
        out = out.transpose(0, 2, 1, 3).reshape(b, n, -1)
        return nn.LayerNorm()(x + nn.Dense(c, name="out")(out))


class Stack(nn.Module):
    layers: int = 2

    @nn.compact
    def __call__(self, ids, mask):
        x = nn.Embed(7, 8)(ids)
        for _ in range(self.layers):
            x = Blocks()(x, mask)
        return nn.Dense(2)(x)


class Windows(nn.Module):
    window: int = 4
    out: int = 3

    def setup(self):
        self.inner = nn.Dense(6)
        self.outer = nn.Dense(self.out)

    def part(self, x):
        b, h, w, _ = x.shape
        k = self.window
        x = self.inner(x).reshape(b, h // k, k, w // k, k, -1)
        return x.transpose(0, 1, 3, 2, 4, 5).reshape(-1, k * k, x.shape[-1])

    def __call__(self, x):
        b, h, w, _ = x.shape
        k = self.window
        y = self.part(x).reshape(b, h // k, w // k, k, k, -1)
        y = y.transpose(0, 1, 3, 2, 4, 5).reshape(b, h, w, -1)
        return self.outer(y)


class Pairs(nn.Module):
    """A width that does follow the length: the constructor is told it."""

    @nn.compact
    def __call__(self, x):
        b, n, c = x.shape
        return nn.Dense(3)(x.reshape(b, n // 2, -1)) + nn.Dense(3)(x.reshape(b, -1))[:, None]


class Broadcast(nn.Module):
    """A batch of one row of weights: the size of x counts."""

    @nn.compact
    def __call__(self, x, weights):
        b, n = weights.shape
        y = nn.Dense(6)(x) * weights.reshape(b, n, 1)
        return nn.Dense(3)(y.reshape(x.shape[0], x.shape[1], 3, -1))


class OwnWidth(nn.Module):
    """A width of the input's own: no batch is in it, and its rounding stays."""

    groups: int = 2

    @nn.compact
    def __call__(self, x):
        b, n, c = x.shape
        y = x[..., : c // self.groups * self.groups].reshape(b, n, self.groups, -1)
        return nn.Dense(3)(y)


CASES = [
    ("Blocks", {}, [(2, 8, 6), (2, 8)], {}),
    ("Blocks", {"heads": 1, "block": 2}, [(3, 4, 6), (3, 4)], {}),
    ("Stack", {}, [], {"ids": jnp.ones((2, 8), jnp.int32), "mask": jnp.ones((2, 8))}),
    ("Windows", {}, [(2, 8, 4, 5)], {}),
    ("Pairs", {}, [(2, 4, 5)], {}),
    ("Broadcast", {}, [(2, 4, 5), (2, 4)], {}),
    ("Broadcast", {}, [(2, 4, 5), (1, 4)], {}),
    ("OwnWidth", {}, [(2, 4, 6)], {}),
    ("OwnWidth", {"groups": 4}, [(2, 4, 6)], {}),
]
