"""Checks that raise by sizes and by what is given together hide nothing behind them; `CASES` as in forms_basic."""

import jax.numpy as jnp
from flax import linen as nn


class Checked(nn.Module):
    @nn.compact
    def __call__(self, x, weights=None, scale=None):
        y = x if scale is None else x * scale
        if weights is not None and y.shape[-1] != weights.shape[-1]:
            raise ValueError(f"{weights.shape} for {y.shape}")
        if y.shape[0] > 5 and scale is not None:
            raise ValueError("too many for a scale")
        h = nn.Dense(4)(y)
        if weights is not None:
            h = h + nn.Dense(4)(weights)
        return nn.Dense(2)(h)


class Small(nn.Module):
    """By a flag of the call."""

    @nn.compact
    def __call__(self, x, train: bool = False):
        if train and x.shape[0] > 3:
            raise ValueError("a large batch")
        else:
            x = nn.Dense(4)(x)
        return nn.Dense(2)(x)


def kind_of(dense, sparse):
    if (dense is None) == (sparse is None):
        raise RuntimeError("one of them")
    return "sparse" if dense is None else "dense"


def gathered(x, dense=None, sparse=None):
    kind = kind_of(dense, sparse)
    if kind == "dense":
        return jnp.take(x, dense, axis=0)
    elif kind == "sparse":
        y = jnp.take(x, sparse, axis=0)
    else:
        assert False, kind
        y = x
    return y


class Filtered(nn.Module):
    @nn.compact
    def __call__(self, inputs, basis=None):
        if basis is not None:
            if inputs.shape[:-1] != basis.shape[:-1]:
                raise ValueError("not of one shape")
            inputs = inputs * nn.Dense(inputs.shape[-1], name="filter")(basis)
        return inputs.sum(0)


class Passing(Filtered):
    """What a function gathers by optional inputs is checked by the base's call."""

    @nn.compact
    def __call__(self, inputs, basis, weights=None, *, dense=None, sparse=None):
        found = gathered(inputs, dense=dense, sparse=sparse)
        if weights is not None:
            if found.shape != weights.shape:
                raise ValueError("weights")
            found *= weights
        return super().__call__(inputs=found, basis=basis)


class Rows(nn.Module):
    """A size that the array does not have is asked for where it may have it."""

    @nn.compact
    def __call__(self, x):
        x = nn.Conv(4, (3, 3))(x)
        if x.ndim > 4 and x.shape[-5] == 3:
            x = x[0]
        return nn.Dense(2)(x)


AT = jnp.array([1, 2])
CASES = [
    ("Checked", {}, [(3, 4), (3, 4)], {"scale": None}),
    ("Checked", {}, [(3, 4)], {"weights": None, "scale": None}),
    ("Checked", {}, [(3, 4), (3, 4), (4,)], {}),
    ("Small", {}, [(3, 4)], {}),
    ("Small", {}, [(3, 4)], {"train": True}),
    ("Small", {}, [(5, 4)], {}),
    ("Filtered", {}, [(5, 3), (5, 4)], {}),
    ("Filtered", {}, [(5, 3)], {"basis": None}),
    ("Passing", {}, [(5, 3), (2, 4)], {"dense": AT, "weights": None}),
    ("Passing", {}, [(5, 3), (2, 4), (2, 3)], {"sparse": AT}),
    ("Rows", {}, [(2, 4, 4, 3)], {}),
]
