"""Loops over the dimensions of an input, which the constructor goes through as well; `CASES` as in forms_basic."""

import functools
from collections.abc import Iterable
from typing import Any

import jax.numpy as jnp
from flax import linen as nn

normal = nn.initializers.normal(1.0)


class Positions(nn.Module):
    """A table along some of the axes: the list of its sizes is filled axis by axis."""

    axes: Any = None

    @nn.compact
    def __call__(self, x):
        axes = self.axes
        if axes is None:
            axes = list(range(1, x.ndim))
        if not isinstance(axes, Iterable):
            axes = (axes,)
        shape = []
        sizes = x.shape
        for i in range(x.ndim):
            if i in axes:
                shape.append(sizes[i])
            else:
                shape.append(1)
        return x + self.param("table", normal, shape)


class OfShape(nn.Module):
    @nn.compact
    def __call__(self, x):
        shape = []
        for i, size in enumerate(x.shape):
            if i == 0:
                continue
            shape.append(size)
        return x + self.param("table", normal, tuple(shape))


class Doubled(nn.Module):
    @nn.compact
    def __call__(self, x):
        y = nn.Dense(3)(x)
        shape = []
        for size in y.shape[1:]:
            shape += [2 * size]
        return y.sum() + self.param("table", normal, shape)


class Counted(nn.Module):
    """A number that a loop over the axes multiplies."""

    @nn.compact
    def __call__(self, x):
        n, rows = 1, 0
        for size in x.shape[1:]:
            n *= size
            rows += size
        return nn.Dense(rows)(nn.Dense(n)(x.reshape(x.shape[0], -1))) * rows


class OfPlaces(nn.Module):
    @nn.compact
    def __call__(self, x):
        axes = nn.normalization._canonicalize_axes(x.ndim, (-1,))
        shape, reduced = [1] * x.ndim, []
        for axis in axes:
            shape[axis] = x.shape[axis]
            reduced.append(x.shape[axis])
        return x * self.param("scale", normal, reduced).reshape(shape)


class PerChannel(nn.Module):
    """A norm without variables for every channel, in a function of the call."""

    @nn.compact
    def __call__(self, x):
        norm = functools.partial(nn.LayerNorm, use_bias=False, use_scale=False, reduction_axes=(-1, -2))

        def each(v):
            return jnp.stack([norm()(v[..., c]) for c in range(v.shape[-1])], axis=-1)

        return nn.Dense(2)(each(x))


class PerPlace(nn.Module):
    @nn.compact
    def __call__(self, x):
        for _ in range(x.shape[1]):
            x = nn.Dense(x.shape[-1] + 1)(x)
        for i in range(x.shape[-1]):
            x = x + self.param(f"bias_{i}", normal, ()) * x[..., i : i + 1]
        return x


class Steps(nn.Module):
    """The steps of a sequence stay the call's: the constructor asks for no length."""

    @nn.compact
    def __call__(self, x):
        cell = nn.GRUCell(4)
        h = jnp.zeros((x.shape[0], 4))
        out = []
        for t in range(x.shape[1]):
            h, y = cell(h, x[:, t])
            out.append(y)
        return jnp.stack(out, 1)


class Turned(nn.Module):
    """A list that only the call needs."""

    @nn.compact
    def __call__(self, x):
        order = []
        for i in range(x.ndim):
            order.append(x.ndim - 1 - i)
        return nn.Dense(3)(x) + x.transpose(order).sum()


CASES = [
    ("Positions", {}, [(2, 5, 4)], {}),
    ("Positions", {"axes": 2}, [(2, 5, 4)], {}),
    ("Positions", {"axes": (1, 3)}, [(2, 5, 4, 3)], {}),
    ("OfShape", {}, [(2, 5, 4)], {}),
    ("Doubled", {}, [(2, 5, 4)], {}),
    ("Counted", {}, [(2, 3, 4)], {}),
    ("OfPlaces", {}, [(2, 5, 4)], {}),
    ("PerChannel", {}, [(2, 5, 4, 3)], {}),
    ("PerPlace", {}, [(2, 3, 4)], {}),
    ("Steps", {}, [(2, 5, 4)], {}),
    ("Turned", {}, [(2, 5, 4)], {}),
]
