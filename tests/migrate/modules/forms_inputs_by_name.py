"""Layers that are given what they work on by its name, of sizes that only the call knows."""

import functools

import jax.numpy as jnp
from flax import linen as nn


def shrunk(x, times):
    """No code shows the shape of what it gives."""
    return functools.reduce(lambda a, _: jnp.concatenate(jnp.split(a, 2, axis=1), axis=-1), range(times), x)


class Attends(nn.Module):
    times: int = 1

    @nn.compact
    def __call__(self, x, y, train=False):
        x, y = shrunk(x, self.times), shrunk(y, self.times)
        own = nn.MultiHeadDotProductAttention(2, deterministic=not train)(inputs_q=x)
        cross = nn.MultiHeadDotProductAttention(2, deterministic=not train)(inputs_q=x, inputs_kv=y)
        third = nn.MultiHeadDotProductAttention(2, qkv_features=4, out_features=3)(
            inputs_k=y, inputs_q=own, inputs_v=y + 1, mask=None, deterministic=True
        )
        return nn.Dense(3)(inputs=cross) + third


class OneByPlace(nn.Module):
    times: int = 1

    @nn.compact
    def __call__(self, x, y):
        x, y = shrunk(x, self.times), shrunk(y, self.times)
        return nn.MultiHeadDotProductAttention(2)(x, inputs_kv=y) + nn.MultiHeadDotProductAttention(2)(x, inputs_k=y)


CASES = [
    ("Attends", {}, [(2, 8, 2), (2, 4, 3)], {}),
    ("Attends", {"times": 2}, [(2, 8, 2), (2, 4, 3)], {}),
    ("OneByPlace", {}, [(2, 8, 2), (2, 4, 3)], {}),
    ("OneByPlace", {"times": 2}, [(2, 8, 2), (2, 4, 3)], {}),
]
