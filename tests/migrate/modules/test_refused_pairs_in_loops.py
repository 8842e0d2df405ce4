"""Lists of pairs of modules that no loop calls pair by pair, in their order: the constructor cannot make them there."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .outside_code import named_outside

pytestmark = pytest.mark.usefixtures("sizes_by_reading")

HEAD = """from typing import Callable
from flax import linen as nn


class PreNorm(nn.Module):
  fn: Callable
  @nn.compact
  def __call__(self, x):
    return self.fn(nn.LayerNorm()(x))


class M(nn.Module):
  dim: int
  depth: int = 3
  @nn.compact
  def __call__(self, x):
    layers = []
    for _ in range(self.depth):
      one = nn.Dense(self.dim)
      layers.append((nn.Dense(self.dim), PreNorm(one)))
"""
CALLED = """    for first, second in layers:
      x = second(first(x))
    return x
"""
REFUSED = {
    "one after the other": ("NNX110", CALLED.replace("second(first(x))", "first(x)") + CALLED.replace("first(x)", "x")),
    "backwards": ("NNX110", CALLED.replace("in layers", "in reversed(layers)")),
    "but for the first": ("NNX110", CALLED.replace("in layers", "in layers[1:]")),
    "several times": (
        "NNX110",
        "    for _ in range(2):\n      for first, second in layers:\n        x = second(first(x))\n    return x\n",
    ),
    "some of them in some passes": (
        "NNX157",
        "    for i, (first, second) in enumerate(layers):\n      x = first(x)\n      if i > 0:\n        x = second(x)\n"
        "    return x\n",
    ),
    "until one is the last": (
        "NNX157",
        "    for i, (first, second) in enumerate(layers):\n      x = first(x)\n      if i == 1:\n        break\n"
        "      x = second(x)\n    return x\n",
    ),
    "the last one again": ("NNX157", CALLED.replace("return x", "return one(x)")),
    "the last one handed to another": ("NNX157", CALLED.replace("return x", "return PreNorm(one)(x)")),
    "beside others that Linen counts with them": (
        "NNX158",
        CALLED.replace("second(first(x))", "second(nn.Dense(4)(first(x)))"),
    ),
    "never": ("NNX110", CALLED.replace("second(first(x))", "second(x)")),
}


def _plan(text: str) -> object:
    files = [SourceFile.parse(Path("m.py"), "m", named_outside(text))]
    return {c.qualname: c for c in migrate_project(files).classes}["m.M"]


@pytest.mark.parametrize("what", REFUSED)
def test_it_stays_linen_and_says_why(what: str) -> None:
    code, body = REFUSED[what]
    plan = _plan(HEAD + body.replace("    return x\n    for", "    for"))
    assert (plan.outcome, plan.code) == ("bridged", code), plan.reason  # type: ignore[attr-defined]


BEFORE = """from flax import linen as nn


class M(nn.Module):
  dim: int
  @nn.compact
  def __call__(self, x):
    wide = 1
    head = nn.Dense(3) if self.dim > wide else nn.LayerNorm()
    for i in range(2):
      x = nn.Dense(self.dim + i, name=f"layer_{i}")(x)
    return head(x)
"""
CHOSEN = {
    "counted with those of the loop": BEFORE.replace(', name=f"layer_{i}"', ""),
    "by a name that has another value by then": BEFORE.replace("    for", "    wide = 9\n    for"),
    "in a loop of its own": BEFORE.replace("return head(x)", "for _ in range(2):\n      x = head(x)\n    return x"),
}


@pytest.mark.parametrize("what", CHOSEN)
def test_one_of_two_modules_made_before_a_loop_stays_linen(what: str) -> None:
    plan = _plan(CHOSEN[what])
    assert plan.outcome == "bridged", plan.reason  # type: ignore[attr-defined]


def test_one_of_two_modules_made_before_a_loop_becomes_native() -> None:
    plan = _plan(BEFORE)
    assert plan.outcome == "native", plan.reason  # type: ignore[attr-defined]


def test_pairs_called_in_their_order_become_native() -> None:
    plan = _plan(HEAD + CALLED)
    assert plan.outcome == "native", plan.reason  # type: ignore[attr-defined]
