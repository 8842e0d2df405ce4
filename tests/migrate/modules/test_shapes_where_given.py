"""Whole shapes of arrays that may be None, and numbers of dimensions that calls in other classes show."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from flax import nnx
from nnx_migrate import compat

from .loading import both_sides

PROGRAM = """import jax.numpy as jnp
from flax import linen as nn


class Inner(nn.Module):
    n: int = 4

    @nn.compact
    def __call__(self, x, context=None):
        context = x if context is None else context
        k = nn.Dense(self.n)(context.reshape((context.shape[0], -1)))
        q = nn.Dense(self.n)(x.reshape((x.shape[0], -1)))
        return q * k


class Block(nn.Module):
    @nn.compact
    def __call__(self, x, context=None):
        x = nn.LayerNorm()(x)
        context = x if context is None else context
        return Inner()(x, context)


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, context):
        x = nn.Conv(6, (3, 3))(x)
        if context is not None:
            b, h, w, c = context.shape
            context = nn.Dense(5)(context.reshape((b, h * w, c)))
        return Block()(x, context)


class Deeper(nn.Module):
    depths: tuple = (1, 2)

    @nn.compact
    def __call__(self, x, context):
        if context is not None:
            context = nn.Conv(4, (2,))(context)
        for depth in self.depths:
            x = nn.Conv(6, (3, 3))(x)
            for _ in range(depth):
                x = x + Block()(x, context).sum()
        return x
"""


@pytest.fixture(scope="module")
def sides():
    return both_sides("shapes_where_given", PROGRAM)


@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize(
    ("name", "shape"), [("Net", (2, 4, 4, 3)), ("Deeper", (2, 4, 3)), ("Block", (2, 7)), ("Inner", (2, 3, 5))]
)
def test_the_constructor_is_given_no_shape_of_nothing(sides, name: str, shape: tuple[int, ...], given: bool) -> None:
    before, after = sides
    linen = getattr(before, name)()
    x = jnp.linspace(-1, 1, 2 * 8 * 8 * 3).reshape((2, 8, 8, 3))
    context = jax.random.normal(jax.random.key(1), shape) if given else None
    variables = linen.init(jax.random.key(0), x, context)
    new = getattr(after, name)(in_shape=x.shape, context_shape=shape if given else None, rngs=nnx.Rngs(0))
    assert compat.check_equivalence(linen, variables, new, x, context)


RANKS = """import jax.numpy as jnp
from flax import linen as nn


class Inner(nn.Module):
    @nn.compact
    def __call__(self, x):
        y = jnp.concatenate([x, 2 * x], axis=1)
        y = y.reshape((y.shape[0], -1))
        return nn.Dense(4)(y)


class Mid(nn.Module):
    lin: bool = True

    @nn.compact
    def __call__(self, x):
        if self.lin:
            x = nn.Dense(6)(x)
        else:
            x = nn.Conv(6, (1, 1))(x)
        return Inner()(x)


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Conv(6, (3, 3))(x)
        return Mid()(x)


class Two(nn.Module):
    @nn.compact
    def __call__(self, x):
        return Mid(False)(x)
"""


@pytest.mark.parametrize(("name", "fields"), [("Inner", {}), ("Mid", {}), ("Mid", {"lin": False}), ("Net", {}), ("Two", {})])
def test_what_a_call_in_another_class_shows_of_a_rank_is_taken(name: str, fields: dict[str, object]) -> None:
    before, after = both_sides("ranks_of_calls", RANKS)
    linen = getattr(before, name)(**fields)
    x = jnp.linspace(-1, 1, 2 * 4 * 4 * 3).reshape((2, 4, 4, 3))
    variables = linen.init(jax.random.key(0), x)
    assert compat.check_equivalence(linen, variables, getattr(after, name)(**fields, in_shape=x.shape, rngs=nnx.Rngs(0)), x)
