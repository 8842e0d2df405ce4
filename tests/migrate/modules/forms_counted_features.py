"""Several numbers of features, of which one is counted: `DenseGeneral((len(self.activations), self.dim))`."""

import functools
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax.numpy as jnp
from flax import linen as nn
from jax import lax


def _normalize_axes(axes: Iterable[int], ndim: int) -> tuple[int, ...]:
    return tuple([ax if ax >= 0 else ndim + ax for ax in axes])


def _canonicalize_tuple(x):
    if isinstance(x, Iterable):
        return tuple(x)
    else:
        return (x,)


class DenseGeneral(nn.Module):
    features: Iterable[int] | int
    axis: Iterable[int] | int = -1
    dtype: Any = jnp.float32
    kernel_init: Any = nn.initializers.lecun_normal()

    @nn.compact
    def __call__(self, inputs):
        features = _canonicalize_tuple(self.features)
        axis = _canonicalize_tuple(self.axis)
        inputs = jnp.asarray(inputs, self.dtype)
        axis = _normalize_axes(axis, inputs.ndim)
        kernel_shape = tuple([inputs.shape[ax] for ax in axis]) + features
        kernel = self.param("kernel", self.kernel_init, kernel_shape, jnp.float32)
        kernel = jnp.asarray(kernel, self.dtype)
        contract_ind = tuple(range(0, len(axis)))
        return lax.dot_general(inputs, kernel, ((axis, contract_ind), ((), ())))


def _convert_to_activation_function(fn_or_string):
    if fn_or_string == "linear":
        return lambda x: x
    elif isinstance(fn_or_string, str):
        return getattr(nn, fn_or_string)
    elif callable(fn_or_string):
        return fn_or_string
    else:
        raise ValueError("don't know")


class MlpBlock(nn.Module):
    intermediate_dim: int = 8
    activations: Sequence[str | Callable] = ("relu",)
    fused: bool = False
    dtype: Any = jnp.float32

    @nn.compact
    def __call__(self, inputs, deterministic: bool = False):
        activations = []
        if self.fused:
            x = DenseGeneral((len(self.activations), self.intermediate_dim), dtype=self.dtype, name="wi")(inputs)
            for idx, act_fn in enumerate(self.activations):
                y = _convert_to_activation_function(act_fn)(x[:, :, idx, ...])
                activations.append(y)
        else:
            for idx, act_fn in enumerate(self.activations):
                dense_name = "wi" if len(self.activations) == 1 else f"wi_{idx}"
                x = DenseGeneral(self.intermediate_dim, dtype=self.dtype, name=dense_name)(inputs)
                x = _convert_to_activation_function(act_fn)(x)
                activations.append(x)
        x = functools.reduce(operator.mul, activations).astype(self.dtype)
        x = nn.Dropout(rate=0.1, broadcast_dims=(-2,))(x, deterministic=deterministic)
        return DenseGeneral(inputs.shape[-1], dtype=self.dtype, name="wo")(x)


class Counted(nn.Module):
    n: Sequence[int] = (1, 2)

    @nn.compact
    def __call__(self, inputs):
        x = DenseGeneral((3, 5))(inputs)
        y = DenseGeneral((len(self.n), 5))(inputs)
        z = DenseGeneral((len(self.n), len(self.n)))(inputs)
        return DenseGeneral(4)(x), DenseGeneral(4)(y), DenseGeneral(4)(z)


CASES = [
    ("MlpBlock", {}, [(2, 3, 4)], {"deterministic": True}),
    ("MlpBlock", {"fused": True, "activations": ("gelu", "linear")}, [(2, 3, 4)], {"deterministic": True}),
    ("Counted", {}, [(2, 3, 4)], {}),
    ("Counted", {"n": (1, 2, 3)}, [(2, 3, 4)], {}),
]
