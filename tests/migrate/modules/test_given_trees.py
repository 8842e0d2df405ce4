"""NNX185: classes that are given dicts of arrays, or lists of them, and arrays elsewhere: they take an example of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import both_sides

HEAD = '''
from typing import Any, Sequence
import flax.linen as nn
import jax
import jax.numpy as jnp


def flat(x):
    if hasattr(x, "values"):
        return jnp.concatenate([flat(v) for k, v in sorted(x.items())], -1)
    return x


class MLP(nn.Module):
    widths: Sequence[int]

    @nn.compact
    def __call__(self, x: jax.Array, training: bool = False) -> jax.Array:
        x = flat(x)
        for width in self.widths:
            x = nn.Dense(width)(x)
        return x

'''
CLASSES = '''
class Value(nn.Module):
    widths: Sequence[int]

    @nn.compact
    def __call__(self, observations, actions, training: bool = False):
        inputs = {"states": observations, "actions": actions}
        return jnp.squeeze(MLP((*self.widths, 1))(inputs, training=training), -1)


class Plain(nn.Module):
    widths: Sequence[int]

    @nn.compact
    def __call__(self, observations, actions):
        return MLP((*self.widths, 1))(nn.Dense(4)(observations)) + actions.sum()


class Ensemble(nn.Module):
    widths: Sequence[int]

    @nn.compact
    def __call__(self, observations, actions):
        many = nn.vmap(Value, variable_axes={"params": 0}, split_rngs={"params": True}, in_axes=None, axis_size=3)
        return many(self.widths)(observations, actions)
'''


@pytest.fixture(scope="module")
def sides() -> Any:
    return both_sides("trees", HEAD + CLASSES)


@pytest.mark.parametrize("name", ["Value", "Plain", "Ensemble"])
def test_sizes_are_those_of_what_the_class_makes_of_it(sides: Any, name: str) -> None:
    linen, native = (getattr(side, name)((3, 2)) if side is sides[0] else getattr(side, name) for side in sides)
    x, a = jnp.sin(jnp.arange(8.0)).reshape(2, 4), jnp.cos(jnp.arange(6.0)).reshape(2, 3)
    variables = linen.init(jax.random.key(0), x, a)
    given = {"in_example": x, "actions_example": a} if name != "Plain" else {"in_shape": x.shape, "actions_shape": a.shape}
    made = native((3, 2), **given, rngs=nnx.Rngs(0))
    compat.from_linen(variables, made)
    np.testing.assert_allclose(linen.apply(variables, x, a), made(x, a), rtol=1e-6)


def test_itself_with_either(sides: Any) -> None:
    linen, native = (side.MLP for side in sides)
    x = jnp.sin(jnp.arange(8.0)).reshape(2, 4)
    for given in (x, {"b": x, "a": {"c": 2 * x}}):
        variables = linen((3,)).init(jax.random.key(0), given)
        made = native((3,), in_example=given, rngs=nnx.Rngs(0))
        compat.from_linen(variables, made)
        np.testing.assert_array_equal(linen((3,)).apply(variables, given), made(given))


def test_a_class_that_cannot_take_an_example_is_wrapped() -> None:
    head = HEAD.replace("x = flat(x)", "x = flat(x)\n        if training and x.sum() > 0:\n            x = nn.Dense(7)(x)")
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", head + CLASSES)])
    found = {c.qualname: str(c.outcome) for c in result.classes}
    assert (found["m.MLP"], found["m.Value"]) == ("bridged", "native"), found


LISTS = '''
import flax.linen as nn
import jax.numpy as jnp


class Levels(nn.Module):
    n: int = 3

    @nn.compact
    def __call__(self, x):
        zs = []
        for i in range(self.n):
            x = nn.Dense(4 * 2**i)(x)
            zs.append(x)
        return zs


class Upwards(nn.Module):
    n: int = 3

    @nn.compact
    def __call__(self, zs):
        x = zs[-1]
        for i in range(self.n - 2, -1, -1):
            x = jnp.concatenate([nn.Dense(4)(x), zs[i]], -1)
        return nn.Dense(2)(x)


class Ends(nn.Module):
    @nn.compact
    def __call__(self, zs):
        return nn.Dense(4)(zs[-1]) + nn.Dense(4)(zs[0])


class Filled(nn.Module):
    """The list is what another module gives."""

    @nn.compact
    def __call__(self, x):
        return Upwards()(Levels()(x))


class Shown(nn.Module):
    @nn.compact
    def __call__(self, x):
        zs = [nn.Dense(3)(x), nn.Dense(5)(x)]
        return Ends()(zs)


class Pairs(nn.Module):
    """Items picked by numbers have sizes of their own, as before."""

    @nn.compact
    def __call__(self, pair):
        return nn.Dense(4)(pair[0]) + nn.Dense(4)(pair[1])


class OfPairs(nn.Module):
    @nn.compact
    def __call__(self, x):
        return Pairs()((nn.Dense(3)(x), nn.Dense(5)(x)))
'''


@pytest.mark.parametrize("name", ["Filled", "Shown", "OfPairs"])
def test_lists_of_arrays_have_no_shape(name: str) -> None:
    linen, native = both_sides("given_lists", LISTS)
    x = jnp.sin(jnp.arange(6.0)).reshape(2, 3)
    variables = getattr(linen, name)().init(jax.random.key(0), x)
    given = {"in_features": 3, "in_example": x} if name == "Filled" else {"in_shape": x.shape}
    given = {"in_features": 3} if name == "OfPairs" else given
    made = getattr(native, name)(**given, rngs=nnx.Rngs(0))
    compat.from_linen(variables, made)
    np.testing.assert_array_equal(getattr(linen, name)().apply(variables, x), made(x))
