"""Sizes picked from a shape by a comprehension with a filter, as norms over any axes pick them; blocks whose other sizes are
not known."""

from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn


def absolute(rank, dims):
    return tuple([rank + dim if dim < 0 else dim for dim in dims])


class AxisNorm(nn.Module):
    axis: int = -1
    use_scale: bool = True
    epsilon: float = 1e-5

    @nn.compact
    def __call__(self, x):
        axis = self.axis if isinstance(self.axis, tuple) else (self.axis,)
        axis = absolute(x.ndim, axis)
        feature_shape = tuple(d if i in axis else 1 for i, d in enumerate(x.shape))
        reduced_shape = tuple(d for i, d in enumerate(x.shape) if i in axis)
        reduction_axis = tuple(i for i in range(x.ndim) if i not in axis)
        y = x - jnp.mean(x, axis=reduction_axis).reshape(feature_shape)
        if self.use_scale:
            y = y * self.param("scale", nn.initializers.normal(), reduced_shape).reshape(feature_shape)
        return y


class Block(nn.Module):
    features: int
    kernel: Any = (3, 3)
    padding: Any = "valid"

    @nn.compact
    def __call__(self, x):
        x = nn.Conv(self.features, self.kernel, padding=self.padding)(x)
        return AxisNorm(epsilon=1e-3)(x)


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = Block(4)(x)
        x = Block(5, (1, 1), padding=[(1, 0), (0, 2)])(x)
        return nn.Dense(3)(x.mean((1, 2)))


def pool(inputs, window, strides, padding):
    if not isinstance(padding, str):
        padding = tuple(map(tuple, padding))
        padding = ((0, 0),) + padding + ((0, 0),)
    return jax.lax.reduce_window(inputs, 0.0, jax.lax.add, (1,) + window + (1,), (1,) + strides + (1,), padding)


class Pooled(nn.Module):
    padding: Any = "VALID"

    @nn.compact
    def __call__(self, x):
        y = pool(x, (3, 3), (1, 1), [[1, 1], [1, 1]])
        z = pool(nn.Dense(5)(x), (2, 2), (2, 2), self.padding)
        return nn.Dense(4)(y), nn.Dense(3)(z)


CASES = [
    ("Pooled", {}, [(2, 6, 6, 3)], {}),
    ("Pooled", {"padding": ((1, 0), (0, 1))}, [(2, 6, 6, 3)], {}),
    ("AxisNorm", {}, [(2, 5, 4, 3)], {}),
    ("AxisNorm", {"axis": 1}, [(2, 5, 4, 3)], {}),
    ("Block", {"features": 3}, [(2, 5, 5, 3)], {}),
    ("Block", {"features": 3, "kernel": (2,), "padding": "SAME"}, [(2, 5, 3)], {}),
    ("Net", {}, [(2, 7, 7, 3)], {}),
]
