"""Inputs that a field joins or adds: each way has a width of its own, also while the ranks of the inputs are not known."""

from __future__ import annotations

import jax
import pytest
from flax import nnx
from nnx_migrate import compat

from .loading import both_sides

HEAD = """import jax.numpy as jnp
from flax import linen as nn


"""
STATEMENT = """class Net(nn.Module):
    mode: str = "sum"

    @nn.compact
    def __call__(self, a, b):
        if self.mode == "cat":
            h = jnp.concatenate([a, b], -1)
        elif self.mode == "sum":
            h = a + b
        else:
            h = jnp.where(a > 0, a, b)
        return nn.Dense(3)(h)
"""
HELPER = """class Net(nn.Module):
    mode: str = "sum"

    def setup(self):
        self.dense = nn.Dense(3)

    def fused(self, a, b):
        if self.mode == "cat":
            return jnp.concatenate([a, b], -1)
        elif self.mode == "sum":
            return a * jnp.exp(-b)
        return a - b

    def __call__(self, a, b):
        return self.dense(self.fused(a, b))
"""
STACKED = """class Net(nn.Module):
    mode: str = "sum"

    @nn.compact
    def __call__(self, a, b):
        if self.mode == "cat":
            h = jnp.concatenate([a, b], -1)
        else:
            h = a * b
        if self.mode == "max":
            h = jnp.stack([h, a], -1)
        return nn.Dense(3)(h)
"""
FLAG = """class Net(nn.Module):
    mode: str = "sum"

    @nn.compact
    def __call__(self, a, b, joined=True):
        if joined:
            h = jnp.concatenate([a, b], -1)
        else:
            h = a + b
        return nn.Dense(3)(h)
"""


NUMBERS = """class Scaled(nn.Module):
    @nn.compact
    def __call__(self, alpha, context):
        b, t, d = context.shape
        return nn.Dense(4)(alpha * context.transpose(0, 2, 1))


class Net(nn.Module):
    @nn.compact
    def __call__(self, context):
        b, t, d = context.shape
        alpha = jnp.exp(self.param("alpha", nn.initializers.zeros, ()))
        return Scaled()(alpha, context) + Scaled(name="again")(2.0, context)
"""


def test_numbers_beside_arrays_of_known_size_have_no_width() -> None:
    before, after = both_sides("fusions_numbers", HEAD + NUMBERS)
    context = jax.random.normal(jax.random.key(0), (2, 5, 3))
    variables = before.Net().init(jax.random.key(1), context)
    new = after.Net(in_shape=context.shape, rngs=nnx.Rngs(0))
    assert compat.check_equivalence(before.Net(), variables, new, context)


@pytest.mark.parametrize("mode", ["sum", "cat", "max"])
@pytest.mark.parametrize("name", ["STATEMENT", "HELPER", "STACKED", "FLAG"])
def test_each_way_has_its_own_width(name: str, mode: str) -> None:
    before, after = both_sides(f"fusions_{name.lower()}", HEAD + globals()[name])
    a, b = (jax.random.normal(jax.random.key(i), (2, 5 if i and mode == "cat" else 4)) for i in range(2))
    linen = before.Net(mode)
    variables = linen.init(jax.random.key(0), a, b)
    new = after.Net(mode, in_features=4, b_features=b.shape[-1], rngs=nnx.Rngs(0))
    assert compat.check_equivalence(linen, variables, new, a, b)
