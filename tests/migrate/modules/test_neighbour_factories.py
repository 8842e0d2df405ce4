"""Factories in fields of classes that nothing constructs are taken for what their neighbours are given under that name."""

from __future__ import annotations

import functools
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen, nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import RunResult, migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import both_sides

BLOCKS = '''import functools
from typing import Any

import flax.linen as nn
import jax.numpy as jnp


class Plain(nn.Module):
    filters: int
    conv: Any
    norm: Any

    @nn.compact
    def __call__(self, x):
        return nn.relu(x + self.norm()(self.conv(self.filters, (3, 3))(x)))


class Bottleneck(nn.Module):
    """Constructed nowhere."""
    filters: int
    conv: Any
    norm: Any
    strides: tuple = (1, 1)

    @nn.compact
    def __call__(self, x):
        y = nn.relu(self.norm()(self.conv(self.filters, (1, 1))(x)))
        y = self.conv(self.filters * 4, (3, 3), self.strides)(y)
        y = self.norm(scale_init=nn.initializers.zeros_init())(y)
        if x.shape != y.shape:
            x = self.norm(name="norm_proj")(self.conv(self.filters * 4, (1, 1), self.strides, name="conv_proj")(x))
        return nn.relu(x + y)


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = False):
        conv = functools.partial(nn.Conv, use_bias=False)
        norm = functools.partial(nn.BatchNorm, use_running_average=not train)
        x = Plain(4, conv=conv, norm=norm)(conv(4, (3, 3))(x))
        return nn.Dense(2)(x.mean((1, 2)))
'''


def test_a_block_beside_the_one_that_is_used() -> None:
    before, after = both_sides("neighbour_blocks", BLOCKS)
    x = jnp.asarray(np.random.RandomState(0).randn(2, 6, 6, 3), jnp.float32)
    for strides in ((1, 1), (2, 2)):
        conv = functools.partial(linen.Conv, use_bias=False)
        norm = functools.partial(linen.BatchNorm, use_running_average=False)
        model = before.Bottleneck(5, conv, norm, strides)
        variables = model.init(jax.random.key(0), x)
        variables = jax.tree.map(lambda v: v + 0.1, variables)
        expected, changed = model.apply(variables, x, mutable=["batch_stats"])
        native = after.Bottleneck(
            5, functools.partial(nnx.Conv, use_bias=False), nnx.BatchNorm, strides, in_features=3, rngs=nnx.Rngs(0)
        )
        compat.from_linen(variables, native)
        np.testing.assert_array_equal(native(x, use_running_average=False), expected)
        left = compat.to_linen(native)
        assert jax.tree.structure(left["params"]) == jax.tree.structure(variables["params"])
        for a, b in zip(jax.tree.leaves(left["batch_stats"]), jax.tree.leaves(changed["batch_stats"]), strict=True):
            np.testing.assert_array_equal(a, b)


HEADS = """from typing import Sequence, Type

import flax.linen as nn
import jax.numpy as jnp

__all__ = ["Value", "Sampled"]


class MLP(nn.Module):
    widths: Sequence[int] = (4, 3)

    @nn.compact
    def __call__(self, x):
        for width in self.widths:
            x = nn.tanh(nn.Dense(width)(x))
        return x


class Wide(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.relu(nn.Dense(7)(x))


class Value(nn.Module):
    body: Type[nn.Module]

    @nn.compact
    def __call__(self, x, actions):
        return nn.Dense(1)(self.body()(jnp.concatenate([x, actions], axis=-1)))


class Sampled(nn.Module):
    body: Type[nn.Module]
    size: int

    @nn.compact
    def __call__(self, x):
        return nn.tanh(nn.Dense(self.size, name="out")(self.body()(x)))


class Both(nn.Module):
    @nn.compact
    def __call__(self, x, actions):
        return Value(MLP)(x, actions) + Value(Wide)(x, actions)
"""


def test_one_of_several_kinds() -> None:
    before, after = both_sides("neighbour_heads", HEADS)
    x = jnp.asarray(np.random.RandomState(0).randn(2, 5), jnp.float32)
    for name in ("MLP", "Wide"):
        model = before.Sampled(getattr(before, name), 3)
        variables = model.init(jax.random.key(0), x)
        native = after.Sampled(getattr(after, name), 3, in_features=5, rngs=nnx.Rngs(0))
        compat.from_linen(variables, native)
        np.testing.assert_array_equal(native(x), model.apply(variables, x))
        assert jax.tree.structure(compat.to_linen(native)["params"]) == jax.tree.structure(variables["params"])


def outcome(program: str, name: str) -> tuple[str, str]:
    result: RunResult = migrate_project([SourceFile.parse(Path("m.py"), "m", program)])
    return next((str(c.outcome), c.reason) for c in result.classes if c.qualname == f"m.{name}")


@pytest.mark.parametrize(
    "more",
    [
        'import sys\n\n\ndef make(body):\n    return getattr(sys.modules[__name__], "Sampled")(body, 3)\n',
        "def make(table, key):\n    return Sampled(table[key], 3)\n",
        "KINDS = {'sampled': Sampled}\n",
    ],
)
def test_one_that_may_be_constructed_is_not_guessed(more: str) -> None:
    found, why = outcome(f"{HEADS}\n\n{more}", "Sampled")
    assert found == "bridged" and "`body`" in why
