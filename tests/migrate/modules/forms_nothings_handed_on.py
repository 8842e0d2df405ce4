"""Norms that a function picks, one of which makes nothing and takes no arguments, in fields of the modules that call them."""

import functools
from typing import Any

import jax.numpy as jnp
from flax import linen as nn


def get_norm_layer(norm_type, dtype):
    if norm_type == "LN":
        norm_fn = functools.partial(nn.LayerNorm, dtype=dtype)
    elif norm_type == "GN":
        norm_fn = functools.partial(nn.GroupNorm, num_groups=2, dtype=dtype)
    elif norm_type is None:
        norm_fn = lambda: (lambda x: x)  # noqa: E731
    else:
        raise NotImplementedError(norm_type)
    return norm_fn


class NormedBlock(nn.Module):
    filters: int
    norm_fn: Any

    @nn.compact
    def __call__(self, x):
        x = self.norm_fn()(x)
        x = nn.Dense(self.filters, use_bias=False)(x)
        x = self.norm_fn()(nn.relu(x))
        return nn.Dense(self.filters)(x)


class GivenByAFunction(nn.Module):
    norm_type: Any = "LN"
    dtype: Any = jnp.float32

    @nn.compact
    def __call__(self, x):
        norm_fn = get_norm_layer(norm_type=self.norm_type, dtype=self.dtype)
        args = dict(norm_fn=norm_fn)
        x = NormedBlock(4, **args)(x)
        x = norm_fn()(x)
        return NormedBlock(2, **args)(x)


class GivenByAChoice(nn.Module):
    normed: bool = True

    @nn.compact
    def __call__(self, x):
        return NormedBlock(4, nn.LayerNorm if self.normed else lambda **options: lambda x: x)(x)


CASES = [("GivenByAFunction", {"norm_type": kind}, [(3, 4)], {}) for kind in ("LN", "GN", None)]
CASES += [("GivenByAChoice", {"normed": normed}, [(3, 4)], {}) for normed in (True, False)]
