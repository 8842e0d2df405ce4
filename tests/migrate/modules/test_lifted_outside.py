"""Functions that lift classes for code outside of modules get Linen copies of them; forms are in `training/programs`."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.context import Options
from nnx_migrate.migrate.pipeline import RunResult, migrate_project
from nnx_migrate.migrate.source import SourceFile

PROGRAM = """
import jax
import jax.numpy as jnp
from flax import linen as nn

class Critic(nn.Module):
  width: int = 4

  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.width)(x)

def ensemblize(cls, num):
  return nn.vmap(cls, variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=None, axis_size=num)

"""
OUTSIDE = "critics = ensemblize(Critic, 2)(8)\nv = critics.init(jax.random.key(0), jnp.ones((1, 3)))\n"
INSIDE = """class Pair(nn.Module):
  @nn.compact
  def __call__(self, x):
    return ensemblize(Critic, 2)()(x).sum(0)

"""


def run(text: str, bridge: bool = True) -> RunResult:
    return migrate_project([SourceFile.parse(Path("agent.py"), "agent", text)], Options(bridge=bridge))


def test_code_outside_gets_the_copy_and_modules_the_class() -> None:
    result = run(PROGRAM + INSIDE + OUTSIDE + "single = Critic(3)\n")
    assert {plan.qualname: str(plan.outcome) for plan in result.classes} == {
        "agent.Critic": "native",
        "agent.Pair": "native",
    }
    after = result.files[0].after or ""
    assert "ensemblize(agent_linen.Critic, 2)(8)" in after and "single = linen_parity.Functional(Critic, 3" in after
    assert "NNX604" not in {found.code for found in result.files[0].diagnostics}


@pytest.mark.parametrize(
    "way",
    (
        "def twins(cls):\n  return ensemblize(cls, 2)\ncritics = twins(cls=Critic)(8)\n",
        "def make():\n  return ensemblize(num=2, cls=Critic)(8)\ncritics = make()\n",
    ),
)
def test_by_way_of_other_functions(way: str) -> None:
    assert "agent_linen.Critic" in (run(PROGRAM + way).files[0].after or "")


def test_a_function_that_modules_call_too() -> None:
    made = "def pair():\n  return ensemblize(Critic, 2)()\n"
    result = run(PROGRAM + made + INSIDE.replace("ensemblize(Critic, 2)()", "pair()") + "other = pair()\n")
    assert {str(plan.outcome) for plan in result.classes} == {"native"}  # the module has the function's text of its own
    assert "  return ensemblize(agent_linen.Critic, 2)()\n" in (result.files[0].after or "")


def test_without_copies_the_class_stays_linen() -> None:
    (critic,) = run(PROGRAM + OUTSIDE, bridge=False).classes
    assert critic.code == "NNX130" and "nn.vmap is applied to it outside of a module (by ensemblize)" in critic.reason
