"""NNX135: class methods of classes that are no modules, which make modules for the module that calls them."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from flax import nnx
from nnx_migrate import compat

from .test_later_sizes import both, same

BOUNDS = """class Bounds(nn.Module):
  @nn.compact
  def __call__(self, x):
    return x * self.param('b', nn.initializers.ones, (1,))


class Ops:
  @classmethod
  def create(cls, x, bounds=None):
    if bounds is None:
      MADE
    return x - bounds

  @classmethod
  def by_another(cls, x):
    return cls.create(x)

  @classmethod
  def plain(cls, x):
    return x * 2


def through(x):
  return Ops.by_another(x)


class Plain(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(Ops.plain(x))


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(CALLED)
"""


@pytest.mark.parametrize("called", ["Ops.create(x)", "Ops.by_another(x)", "through(x)"])
@pytest.mark.parametrize("made", ["bounds = Bounds(name='bounds')(x)", "made = Bounds(name='bounds'); bounds = made(x)"])
def test_their_text_stands_in_the_class_that_calls_them(made: str, called: str) -> None:
    old, new, result = both(BOUNDS.replace("MADE", made).replace("CALLED", called))
    assert {report.outcome.value for report in result.classes} == {"native"}, [c.reason for c in result.classes]
    x: Any = jnp.arange(6.0).reshape(2, 3)
    variables = old.M().init(jax.random.key(0), x)
    model = new.M(in_features=3, rngs=nnx.Rngs(0))
    assert jax.tree.structure(compat.to_linen(model)) == jax.tree.structure(variables)
    compat.from_linen(variables, model)
    same(model(x), old.M().apply(variables, x))
    assert "bounds" in variables["params"]


@pytest.mark.parametrize("called", ["list(map(Ops.create, [x]))[0]", "Ops().create(x)"])
def test_where_it_is_not_seen_who_calls_them_they_stay_linen_and_run(called: str) -> None:
    text = BOUNDS.replace("MADE", "bounds = Bounds(name='bounds')(x)").replace("CALLED", called)
    old, new, result = both(text)
    outcomes = {report.qualname.rpartition(".")[2]: report.outcome.value for report in result.classes}
    assert outcomes == {"Bounds": "bridged", "M": "bridged", "Plain": "native"}
    x: Any = jnp.arange(6.0).reshape(2, 3)
    variables = new.M().init(jax.random.key(0), x)
    same(variables, old.M().init(jax.random.key(0), x))
    assert "bounds" in variables["params"]
