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


@pytest.mark.parametrize("what", REFUSED)
def test_it_stays_linen_and_says_why(what: str) -> None:
    code, body = REFUSED[what]
    text = named_outside(HEAD + body.replace("    return x\n    for", "    for"))
    plans = {c.qualname: c for c in migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes}
    assert (plans["m.M"].outcome, plans["m.M"].code) == ("bridged", code), plans["m.M"].reason


def test_pairs_called_in_their_order_become_native() -> None:
    text = named_outside(HEAD + CALLED)
    plans = {c.qualname: c for c in migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes}
    assert plans["m.M"].outcome == "native", plans["m.M"].reason
