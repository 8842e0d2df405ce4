"""Norms that a function picks by name, one of which is told more in NNX than the others: both sides run."""

from __future__ import annotations

import types
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from .loading import both_sides

TEXT = '''
import functools
from typing import Any

from flax import linen as nn


def norm_of(kind):
    if kind == "none":
        return None
    elif kind == "layer":
        return functools.partial(nn.LayerNorm, use_scale=False)
    elif kind == "group":
        return functools.partial(nn.GroupNorm, num_groups=2, use_bias=False)
    return functools.partial(nn.BatchNorm, use_bias=False)


class MLP(nn.Module):
    """Without flags, so that Linen raises for batch norm."""

    depth: int
    norm: Any = None

    @nn.compact
    def __call__(self, x):
        for i in range(self.depth):
            x = nn.Dense(8, name=f"hidden_{i}")(x)
            if self.norm is not None:
                x = self.norm()(x)
        return x


class Outer(nn.Module):
    norm: Any = None

    @nn.compact
    def __call__(self, x):
        return MLP(2, norm=self.norm)(x)


def make(kind):
    return Outer(norm=norm_of(kind))
'''


@pytest.fixture(scope="module")
def sides() -> tuple[types.ModuleType, types.ModuleType]:
    return both_sides("norms", TEXT)


@pytest.mark.parametrize("kind", ["none", "layer", "group"])
def test_norms_compute_the_same(kind: str, sides: Any) -> None:
    linen, native = (side.make(kind) for side in sides)
    x = jnp.sin(jnp.arange(12.0)).reshape(3, 4)
    variables = linen.init(jax.random.key(0), x)
    made = native.init(jax.random.key(0), x)
    assert jax.tree.map(jnp.shape, made) == jax.tree.map(jnp.shape, variables)
    np.testing.assert_array_equal(linen.apply(variables, x), native.apply(variables, x))


def test_batch_norm_without_its_flag_raises_as_in_linen(sides: Any) -> None:
    for side in sides:
        model = side.make("batch")
        with pytest.raises((ValueError, TypeError), match="use_running_average"):
            model.apply(model.init(jax.random.key(0), jnp.ones((3, 4))), jnp.ones((3, 4)))
