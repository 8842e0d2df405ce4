"""Factories that functions of the project give, handed to other classes by a name or with flags; `CASES` as in forms_basic."""

import functools
from typing import Any

import jax.numpy as jnp
from flax import linen as nn


def norm_of(train, dtype, kind="batch"):
    if kind == "batch":
        norm = functools.partial(nn.BatchNorm, use_running_average=not train, dtype=jnp.float32)
    elif kind == "layer":
        norm = functools.partial(nn.LayerNorm, dtype=dtype)
    elif kind == "group":
        norm = functools.partial(nn.GroupNorm, num_groups=2, dtype=dtype)
    else:
        raise NotImplementedError(kind)
    return norm


def dense_of(width, value=0.5):
    start = nn.initializers.constant(value)
    return functools.partial(nn.Dense, width, bias_init=start)


class Normed(nn.Module):
    norm: Any

    @nn.compact
    def __call__(self, x):
        return nn.Dense(6)(self.norm()(x))


class Made(nn.Module):
    make: Any

    @nn.compact
    def __call__(self, x):
        return nn.relu(self.make()(x))


class InSetup(nn.Module):
    """Which it is says an attribute of setup."""

    dtype: Any = jnp.float32

    def setup(self):
        self.kind = "group"

    @nn.compact
    def __call__(self, x, train: bool = False):
        norm = norm_of(train=train, dtype=self.dtype, kind=self.kind)
        x = Normed(norm=norm)(nn.Dense(4)(x))
        return norm()(x)


class Flagged(nn.Module):
    """The one that is picked has a flag of the call."""

    @nn.compact
    def __call__(self, x, train: bool = False):
        norm = norm_of(train, jnp.float32)
        x = Normed(norm)(nn.Dense(4)(x))
        return Normed(norm=norm_of(train, jnp.float32, "layer"))(x)


class Sized(nn.Module):
    """By a size of the call, and of what another one was given."""

    @nn.compact
    def __call__(self, x):
        make = dense_of(x.shape[-1] + 1)
        x = Made(make)(x)
        make = functools.partial(dense_of(3, 2.0), use_bias=True)
        return Made(make)(x)


class InPasses(nn.Module):
    widths: Any = (3, 5)

    @nn.compact
    def __call__(self, x):
        for i, width in enumerate(self.widths):
            make = dense_of(width, 0.5 * (i + 1))
            x = Made(make)(x)
        return x


class OneAfterAnother(nn.Module):
    @nn.compact
    def __call__(self, x):
        y = Made(dense_of(3, 1.0))(x)
        return y + Made(dense_of(3, 2.0))(x)


CASES = [
    ("InSetup", {}, [(2, 3)], {"train": False}),
    ("Flagged", {}, [(2, 3)], {"train": False}),
    ("Sized", {}, [(2, 3)], {}),
    ("InPasses", {}, [(2, 3)], {}),
    ("InPasses", {"widths": (2, 4, 6)}, [(2, 3)], {}),
    ("OneAfterAnother", {}, [(2, 3)], {}),
]
