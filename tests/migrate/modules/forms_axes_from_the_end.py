"""Axes of an array of any rank, counted from its end, and orders of axes that a loop turns round."""

import flax.linen as nn
import jax.numpy as jnp
import numpy as np
from jax import lax


class Swapped(nn.Module):
    """Heads before lengths, as in attention over blocks of an image."""

    heads: int = 2

    @nn.compact
    def __call__(self, x):
        q = nn.DenseGeneral((self.heads, 4))(x)
        axes = tuple(range(q.ndim - 3)) + (q.ndim - 2, q.ndim - 3, q.ndim - 1)
        q = jnp.transpose(q, axes)
        scores = nn.softmax(jnp.einsum("...ld,...md->...lm", q, q))
        out = jnp.einsum("...lm,...md->...ld", scores, q)
        kernel = self.param("kernel", nn.initializers.normal(), (out.shape[-3], out.shape[-1], 5))
        return jnp.einsum("...hld,hdf->...lf", out, kernel)


class Starred(nn.Module):
    @nn.compact
    def __call__(self, x):
        y = jnp.transpose(x, (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))
        return nn.Dense(2)(y), nn.Dense(3)(x.transpose(list(range(x.ndim - 2)) + [-1, -2]))


def inverse(order):
    turned = [0] * len(order)
    for i, j in enumerate(order):
        turned[j] = i
    return tuple(turned)


def attend(query, key, value, axis):
    """Attention along some axes, after the first release of Flax."""
    n = key.ndim
    batch = tuple(np.delete(range(n), axis + (n - 1,)))
    order = batch + axis + (n - 1,)
    query, key = query.transpose(order), key.transpose(order)
    value = value.transpose(batch + (n - 1,) + axis)
    over = tuple(range(len(batch)))
    weights = lax.dot_general(query, key, (((n - 1,), (n - 1,)), (over, over)))
    last = tuple(range(weights.ndim - len(axis), weights.ndim))
    weights = nn.softmax(weights, axis=last)
    taken = (last, tuple(range(value.ndim - len(axis), value.ndim)))
    y = lax.dot_general(weights, value, (taken, (over, over)))
    return y.transpose(inverse(order))


class OverImages(nn.Module):
    heads: int = 2

    @nn.compact
    def __call__(self, x):
        b, h, w, c = x.shape
        q, k, v = (nn.DenseGeneral((self.heads, c // self.heads), name=n)(x) for n in "qkv")
        y = attend(q, k, v, axis=(1, 2))
        return x + nn.DenseGeneral(c, axis=(-2, -1), name="out")(y)


CASES = [
    ("Swapped", {}, [(2, 3, 4)], {}),
    ("Swapped", {}, [(2, 2, 3, 4)], {}),
    ("Starred", {}, [(2, 3, 4)], {}),
    ("OverImages", {}, [(2, 3, 3, 4)], {}),
]
