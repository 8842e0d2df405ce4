"""Calls that have a name of their own for what the constructor calls its random streams; `CASES` as in forms_basic."""

import jax
import jax.numpy as jnp
from flax import linen as nn


class Inner(nn.Module):
    @nn.compact
    def __call__(self, x, n):
        return nn.Dense(3)(x) + n


class Outer(nn.Module):
    @nn.compact
    def __call__(self, x, rng=None):
        if rng is not None:
            rngs = jax.random.split(rng, 2)
        else:
            rngs = tuple(None for _ in range(2))
        a, b = rngs
        y = jnp.stack(jax.tree.leaves({"a": x, "b": x}))
        h = Inner()(y, 1)
        if b is not None:
            h = h + jax.random.normal(b, h.shape)
        return nn.Dense(2)(jax.tree.leaves({"q": h})[0])


CASES = [
    ("Outer", {}, [(2, 3)], {}),
]
