"""What a method hands on of a cell's carry that another class, or a function, makes: no call of the module comes to it."""

from __future__ import annotations

from pathlib import Path

import jax
import numpy as np
import pytest

from .loading import migrated, project_sides

FORMS = Path(__file__).with_name("forms_initial_carries_of_others.py").read_text()
HEAD = """import flax.linen as nn
import jax


def drawn(n):
  cell = nn.GRUCell(5, carry_init=nn.initializers.normal())
  return cell.initialize_carry(jax.random.PRNGKey(3), (n, 5))


class Cell(nn.Module):
  @nn.compact
  def __call__(self, carry, x):
    return nn.GRUCell(5)(carry, x)
  @staticmethod
  def start(n):
    return nn.GRUCell(5, parent=None).initialize_carry(jax.random.PRNGKey(3), (n, 5)) + 1


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(x)
"""
SAME = {
    "a drawn carry": "@staticmethod\n  def carry(n):\n    return drawn(n)",
    "a method": "def carry(self, n):\n    return Cell.start(n)",
    "a class method": "@classmethod\n  def carry(cls, n):\n    return Cell.start(n)",
}
COUNTED = {  # Linen gives the cell a number in the call
    "the call": "@nn.compact\n  def __call__(self, x):\n    return nn.GRUCell(5)(drawn(2), x)",
    "a method of the call": "def carry(self, n):\n    return nn.Dense(5)(drawn(n))\n  @nn.compact\n"
    "  def __call__(self, x):\n    return self.carry(2)",
}


@pytest.mark.parametrize("name", ["Policy", "Further"])
def test_the_carry_is_the_same(name: str) -> None:
    result = migrated({"forms": FORMS})
    assert {r.outcome.value for r in result.classes} == {"native"}, [r.reason for r in result.classes]
    old, new = project_sides({"forms": FORMS}, result)
    for method in ("initialize_carry", "state") if name == "Further" else ("initialize_carry",):
        given = (None, 3) if method == "state" else (3,)
        a, b = (getattr(getattr(side, name), method)(*given) for side in (old, new))
        assert jax.tree.structure(a) == jax.tree.structure(b)
        jax.tree.map(np.testing.assert_array_equal, a, b)


@pytest.mark.parametrize("what", SAME)
def test_a_method_that_no_call_comes_to(what: str) -> None:
    text = f"{HEAD}  {SAME[what]}\n"
    result = migrated({"m": text})
    assert {r.outcome.value for r in result.classes} == {"native"}, [r.reason for r in result.classes]
    old, new = project_sides({"m": text}, result)
    given = (None, 2) if what == "a method" else (2,)
    np.testing.assert_array_equal(*[np.asarray(side.M.carry(*given)) for side in (old, new)])


@pytest.mark.parametrize("what", COUNTED)
def test_one_that_a_call_comes_to_stays_linen(what: str) -> None:
    text = f"{HEAD.partition('class M')[0]}class M(nn.Module):\n  {COUNTED[what]}\n"
    result = migrated({"m": text})
    assert {r.qualname: r.outcome.value for r in result.classes}["m.M"] == "bridged"
