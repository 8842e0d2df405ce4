"""NNX135: class methods of classes that are no modules, which make modules for the module that calls them."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

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
def test_who_calls_them_and_what_they_make_stay_linen_and_run(made: str, called: str) -> None:
    old, new, result = both(BOUNDS.replace("MADE", made).replace("CALLED", called))
    outcomes = {report.qualname.rpartition(".")[2]: report.outcome.value for report in result.classes}
    assert outcomes == {"Bounds": "bridged", "M": "bridged", "Plain": "native"}
    x: Any = jnp.arange(6.0).reshape(2, 3)
    variables = new.M().init(jax.random.key(0), x)
    same(variables, old.M().init(jax.random.key(0), x))
    assert "bounds" in variables["params"]
