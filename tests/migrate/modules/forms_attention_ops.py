"""Attention without weights, whose result no dimension by dimension account gives: its queries say the shape.

`CASES` as in `forms_basic.py`.
"""

import functools
import operator
from collections.abc import Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn
from jax import lax


KERNELS = {}


def kernel(function):
    """Registers a kernel under its name."""
    KERNELS[function.__name__] = function
    return function


@kernel
def plain(query, key, value, mask):
    weights = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", query, key))
    return jnp.einsum("bhqk,bkhd->bqhd", weights, value)


@kernel
def other(query, key, value, mask):
    return jax.nn.dot_product_attention(query, key, value, mask=mask)


class Kernel(nn.Module):
    """One of several kernels, looked up by name, which may draw but makes nothing."""

    kind: str = "plain"
    heads: int = 2

    @nn.compact
    def __call__(self, query, key, value, mask=None, noisy: bool = False):
        if noisy:
            query = query + jax.random.normal(self.make_rng("noise"), query.shape)
        if self.heads < 1:
            raise ValueError("no heads")
        return KERNELS[self.kind](query, key, value, mask)


class Attend(nn.Module):
    """Projections by methods, a kernel in between."""

    heads: int
    depth: int
    kind: str = "plain"
    fused: bool = False

    def project(self, x, name):
        return nn.DenseGeneral((self.heads, self.depth), name=name)(x)

    def together(self, x):
        qkv = nn.DenseGeneral((3, self.heads, self.depth), name="qkv")(x)
        return qkv[:, :, 0, ...], qkv[:, :, 1, ...], qkv[:, :, 2, ...]

    def out_projection(self, width, y):
        return nn.DenseGeneral(width, axis=(-2, -1), name="out")(y)

    @nn.compact
    def __call__(self, x, context):
        if self.fused:
            query, key, value = self.together(x)
        else:
            query, key, value = self.project(x, "query"), self.project(context, "key"), self.project(context, "value")
        y = Kernel(self.kind, self.heads)(query, key, value)
        return self.out_projection(x.shape[-1], y)


class QueriesAlone(nn.Module):
    """Parameters named q, k and v, given by keyword and in another order."""

    kind: str = "other"

    @nn.compact
    def __call__(self, x):
        q, k, v = (nn.DenseGeneral((2, 4), name=n)(x) for n in ("a", "b", "c"))
        y = Kernel(self.kind)(key=k, value=v, query=q)
        return nn.DenseGeneral(3, axis=(-2, -1), name="out")(y) + nn.Dense(3, name="side")(y.reshape(*y.shape[:2], -1))


class WiderValues(nn.Module):
    """The features of the values are those of the result."""

    @nn.compact
    def __call__(self, x):
        query, key = nn.DenseGeneral((2, 4), name="a")(x), nn.DenseGeneral((2, 4), name="b")(x)
        value = nn.DenseGeneral((2, 6), name="c")(x)
        return nn.Dense(5, name="last")(Kernel("plain")(query, key, value))


def as_tuple(x):
    if isinstance(x, Iterable):
        return tuple(x)
    return (x,)


def from_the_front(axes, count):
    return tuple(axis if axis >= 0 else count + axis for axis in axes)


class Project(nn.Module):
    """A projection over any axes, whose bias has the last of its logical names."""

    features: Any
    axis: Any = -1
    axes: tuple[str, ...] = ()
    use_bias: bool = False

    @nn.compact
    def __call__(self, inputs):
        features, axis = as_tuple(self.features), as_tuple(self.axis)
        axis = from_the_front(axis, inputs.ndim)
        shape = tuple(inputs.shape[a] for a in axis) + features
        kernel = self.param("kernel", nn.with_logical_partitioning(along, self.axes), shape)
        y = lax.dot_general(inputs, kernel, ((axis, tuple(range(len(axis)))), ((), ())))
        if self.use_bias:
            names, size = self.axes[-len(features) :], shape[-len(features) :]
            y += self.param("bias", nn.with_logical_partitioning(nn.initializers.normal(), names), size)
        return y


def along(key, shape, dtype=jnp.float32):
    return jax.random.normal(key, shape, dtype) / np.sqrt(shape[0])


def activation(name):
    if name == "linear":
        return lambda x: x
    elif isinstance(name, str):
        return getattr(nn, name)
    return name


class Gated(nn.Module):
    """Gates of one width, fused or not, in front of a projection back to the width of the input."""

    width: int = 6
    activations: tuple[Any, ...] = ("relu",)
    use_bias: bool = False
    fused: bool = False

    @nn.compact
    def __call__(self, inputs):
        gates = []
        if self.fused:
            x = Project((len(self.activations), self.width), name="wi", axes=("e", "n", "m"), use_bias=self.use_bias)(inputs)
            for i, name in enumerate(self.activations):
                gates.append(activation(name)(x[:, :, i, ...]))
        else:
            for i, name in enumerate(self.activations):
                called = "wi" if len(self.activations) == 1 else f"wi_{i}"
                x = Project(self.width, name=called, axes=("e", "m"), use_bias=self.use_bias)(inputs)
                gates.append(activation(name)(x))
        x = functools.reduce(operator.mul, gates)
        return Project(inputs.shape[-1], name="wo", axes=("m", "e"), use_bias=self.use_bias)(x)


CASES = [
    ("Attend", {"heads": 2, "depth": 4}, [(2, 5, 8), (2, 7, 8)], {}),
    ("Attend", {"heads": 2, "depth": 4, "kind": "other"}, [(2, 5, 8), (2, 7, 6)], {}),
    ("Attend", {"heads": 2, "depth": 4, "fused": True}, [(2, 5, 8), (2, 5, 8)], {}),
    ("QueriesAlone", {}, [(2, 5, 8)], {}),
    ("QueriesAlone", {"kind": "plain"}, [(2, 5, 8)], {}),
    ("WiderValues", {}, [(2, 5, 8)], {}),
    ("Project", {"features": (3, 5), "axes": ("a", "b", "c"), "use_bias": True}, [(2, 3, 4)], {}),
    ("Gated", {}, [(2, 3, 4)], {}),
    ("Gated", {"use_bias": True, "activations": ("relu", "linear")}, [(2, 3, 4)], {}),
    ("Gated", {"use_bias": True, "fused": True, "activations": ("relu", "linear")}, [(2, 3, 4)], {}),
]
