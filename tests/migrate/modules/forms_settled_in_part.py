"""Classes that are called once on shapes when they are made, by one that knows the widths of their inputs only."""

from collections.abc import Callable

import flax.linen as nn
import jax.numpy as jnp


def default(value, other):
    return value if value is not None else other


class PreNorm(nn.Module):
    fn: Callable

    @nn.compact
    def __call__(self, x, **kwargs):
        return self.fn(nn.LayerNorm()(x), **kwargs)


class Attention(nn.Module):
    dim: int
    heads: int = 8

    @nn.compact
    def __call__(self, x, context=None, with_self=False):
        context = default(context, x)
        if with_self:
            context = jnp.concatenate([x, context], axis=1)
        q = nn.Dense(self.heads)(x)
        kv = nn.Dense(self.heads)(context)
        return nn.Dense(self.dim)(q + kv.mean(1, keepdims=True))


class Transformer(nn.Module):
    dim: int
    depth: int

    @nn.compact
    def __call__(self, x):
        layers = []
        for _ in range(self.depth):
            layers.append([PreNorm(Attention(self.dim)), PreNorm(Attention(self.dim, 4))])
        for first, second in layers:
            x = first(x) + x
            x = second(x, with_self=True) + x
        return nn.LayerNorm()(x)


CASES = [
    ("Transformer", {"dim": 6, "depth": 2}, [(2, 5, 6)], {}),
    ("Attention", {"dim": 6}, [(2, 5, 6), (2, 3, 4)], {}),
    ("Attention", {"dim": 6}, [(2, 5, 6)], {"context": None}),
]
