"""Modules of unknown sizes whose only call is in a function that is kept: no call of the class on shapes finds the sizes."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

TEXT = """import functools
import jax
import jax.numpy as jnp
from flax import linen as nn


class Kept:
  def __init__(self, f):
    self.f = f


class Inner(nn.Module):
  sizes: tuple

  @nn.compact
  def __call__(self, x, c):
    for size in self.sizes:
      x = nn.Dense(size)(x) + nn.Dense(size)(c)
    return x


class M(nn.Module):
  actions: int = 2

  @nn.compact
  def __call__(self, x):
    starting = not self.has_variable("params", "means")
    inner = Inner((4, self.actions))
    means = self.param("means", nn.initializers.normal(1.0), (self.actions,))
    if starting:
      inner(jnp.zeros((*x.shape[:-1], self.actions)), x)

    def f(actions):
      return inner(actions, x) + means

    return RESULT
"""


@pytest.mark.parametrize("result", ["Kept(f)", "f", "functools.partial(f)", "jax.tree_util.Partial(f)", "Kept(f=f)"])
def test_a_class_that_gives_away_what_calls_a_module_stays_linen(result: str) -> None:
    found = migrate_project([SourceFile.parse(Path("m.py"), "m", TEXT.replace("RESULT", result))])
    plan = next(c for c in found.classes if c.qualname == "m.M")
    assert (plan.outcome, plan.code) == ("bridged", "NNX110")


@pytest.mark.parametrize("result", ["f(x[..., :2])", "jax.vmap(f)(x[..., :2])", "list(map(f, [x[..., :2]]))"])
def test_one_that_calls_it_does_not(result: str) -> None:
    found = migrate_project([SourceFile.parse(Path("m.py"), "m", TEXT.replace("RESULT", result))])
    assert next(c for c in found.classes if c.qualname == "m.M").outcome == "native"
