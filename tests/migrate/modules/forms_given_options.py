"""Functions of fields that are handed options of which the call decides; `CASES` as in forms_basic."""

from collections.abc import Callable

import jax.numpy as jnp
from flax import linen as nn


def attend(query, key, value, bias=None, scale=1.0):
    weights = nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", query, key) * scale)
    if bias is not None:
        weights = weights + bias
    return jnp.einsum("bhqk,bkhd->bqhd", weights, value)


class Attention(nn.Module):
    heads: int = 2
    attention: Callable = attend

    @nn.compact
    def __call__(self, x, memory=None, *, bias=None, sharp: bool = False):
        memory = x if memory is None else memory
        split = (self.heads, x.shape[-1] // self.heads)
        query, key, value = (nn.DenseGeneral(split, name=n)(a) for n, a in (("q", x), ("k", memory), ("v", memory)))
        options = {}
        if bias is not None:
            options["bias"] = bias
        if sharp:
            options["scale"] = 2.0
        y = self.attention(query, key, value, **options)
        return nn.DenseGeneral(x.shape[-1], axis=(-2, -1), name="out")(y)


class Plain(nn.Module):
    attention: Callable = attend

    @nn.compact
    def __call__(self, x, sharp: bool = False):
        split = (2, x.shape[-1] // 2)
        query, key, value = nn.DenseGeneral(split)(x), nn.DenseGeneral(split)(x), nn.DenseGeneral(split)(x)
        options = {"scale": 2.0} if sharp else {}
        return nn.DenseGeneral(5, axis=(-2, -1))(self.attention(query, key, value, **options))


CASES = [
    ("Plain", {}, [(2, 5, 4)], {}),
    ("Plain", {}, [(2, 5, 4)], {"sharp": True}),
    ("Attention", {}, [(2, 5, 4)], {"memory": jnp.ones((2, 3, 4))}),
    ("Attention", {}, [(2, 5, 4)], {"memory": jnp.ones((2, 3, 4)), "sharp": True, "bias": jnp.ones((5, 3))}),
]
