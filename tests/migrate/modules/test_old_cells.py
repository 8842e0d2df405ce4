"""Cells as before flax 0.7.2: their width is that of the carry, and a class is asked for the first one.

Flax has them no longer: the Linen side is the same program with the features that each cell has.
"""

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

from .loading import module as _module

OLD = """import functools
import jax
import jax.numpy as jnp
from flax import linen as nn

scan = functools.partial(nn.scan, variable_broadcast="params", in_axes=0, out_axes=0, split_rngs={"params": False})


class Scanned(nn.Module):
  @functools.partial(nn.scan, variable_broadcast="params", in_axes=0, out_axes=0, split_rngs={"params": False})
  @nn.compact
  def __call__(self, carry, x):
    ins, resets = x
    state = jnp.where(resets[:, None], self.initialize_carry(ins.shape[0], ins.shape[1]), carry)
    state, y = nn.GRUCell()(state, ins)
    return state, y

  @staticmethod
  def initialize_carry(batch_size, hidden_size):
    return nn.GRUCell.initialize_carry(jax.random.PRNGKey(0), (batch_size,), hidden_size)


class Actor(nn.Module):
  @nn.compact
  def __call__(self, hidden, x, resets):
    hidden, y = Scanned()(hidden, (nn.Dense(4)(x), resets))
    return hidden, nn.Dense(2)(y)


class Held(nn.Module):
  width: int = 5
  def setup(self):
    self.first = nn.OptimizedLSTMCell.initialize_carry(jax.random.PRNGKey(0), (), self.width)
    self.lstm = nn.scan(
      nn.OptimizedLSTMCell, in_axes=0, out_axes=0, variable_broadcast="params", split_rngs={"params": False}
    )()
  def __call__(self, x):
    return self.lstm(self.first, x)[1]


class Plain(nn.Module):
  @nn.compact
  def __call__(self, x):
    carry = nn.LSTMCell.initialize_carry(jax.random.PRNGKey(0), x.shape[:-1], 6)
    return nn.LSTMCell()(carry, x)[1]
"""
CHANGES = (
    ("nn.GRUCell()(state", "nn.GRUCell(4)(state"),
    ("nn.LSTMCell()(", "nn.LSTMCell(6)("),
    ('split_rngs={"params": False}\n    )()', 'split_rngs={"params": False}\n    )(self.width)'),
    (
        "nn.GRUCell.initialize_carry(jax.random.PRNGKey(0), (batch_size,), hidden_size)",
        "jnp.zeros((batch_size, hidden_size))",
    ),
    ("nn.OptimizedLSTMCell.initialize_carry(jax.random.PRNGKey(0), (), self.width)", "(jnp.zeros((5,)),) * 2"),
    ("nn.LSTMCell.initialize_carry(jax.random.PRNGKey(0), x.shape[:-1], 6)", "(jnp.zeros((*x.shape[:-1], 6)),) * 2"),
)
CASES = {"Actor": [(2, 4), (3, 2, 6), [[True, False], [False, False], [False, True]]], "Held": [(7, 3)], "Plain": [(2, 3)]}


@pytest.fixture(scope="module")
def sides() -> tuple[Any, Any, dict[str, Any]]:
    today = OLD
    for old, new in CHANGES:
        assert old in today
        today = today.replace(old, new)
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", OLD)])
    for created, content in result.created.items():
        _module(created.stem, content)
    plans = {c.qualname.rpartition(".")[2]: c for c in result.classes}
    return _module("old_linen", today), _module("old_nnx", result.files[0].after or ""), plans


@pytest.mark.parametrize("name", CASES)
def test_both_sides_are_equal(sides: tuple[Any, Any, dict[str, Any]], name: str) -> None:
    linen, native, plans = sides
    assert plans[name].outcome.value == "native", plans[name].reason
    random = np.random.RandomState(0)
    inputs = [jnp.asarray(random.randn(*s), jnp.float32) if isinstance(s, tuple) else jnp.asarray(s) for s in CASES[name]]
    module = getattr(linen, name)()
    variables = module.init(jax.random.key(0), *inputs)
    call = dict(zip(plans[name].call_arguments, inputs))
    added = {a.name: eval(a.origin, {}, call) for a in plans[name].added_arguments}
    model = getattr(native, name)(**added, rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    wanted, got = module.apply(variables, *inputs), model(*inputs)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6), wanted, got)


def test_the_width_is_that_of_the_carry(sides: tuple[Any, Any, dict[str, Any]]) -> None:
    _, _, plans = sides
    assert [(a.name, a.origin) for a in plans["Scanned"].added_arguments] == [
        ("x_0_features", "x[0].shape[-1]"),
        ("in_features", "carry.shape[-1]"),
    ]


@pytest.mark.parametrize(
    "change",
    [
        ("return state, y", "return nn.Dense(4)(state), y"),  # what is handed on is not the cell's
        ("state, y = nn.GRUCell()(state, ins)", "_, y = nn.GRUCell()(state, ins)"),
    ],
)
def test_what_is_not_handed_on_says_no_width(change: tuple[str, str]) -> None:
    text = OLD.replace(*change)
    assert text != OLD
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    plan = {c.qualname: c for c in result.classes}["m.Scanned"]
    assert (plan.code, "the carry's size is not known" in plan.reason) == ("NNX110", True)
