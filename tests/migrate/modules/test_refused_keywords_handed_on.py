"""Keywords that a class gives on to a module that it is handed, where it is not known which these are."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .outside_code import named_outside

pytestmark = pytest.mark.usefixtures("sizes_by_reading")

PRENORM = """from typing import Callable
from flax import linen as nn


class PreNorm(nn.Module):
  fn: Callable
  @nn.compact
  def __call__(self, x, **kwargs):
    return self.fn(nn.LayerNorm()(x), **kwargs)


"""
MIX = """class Mix(nn.Module):
  @nn.compact
  def __call__(self, x, context=None):
    y = nn.Dense(4)(x)
    return y if context is None else y + nn.Dense(4)(context)


class M(nn.Module):
  @nn.compact
  def __call__(self, x, other):
"""
ONCE = "    return PreNorm(Mix())(x, context=other)\n"
REFUSED = {
    "some taken out": ("NNX110", PRENORM.replace("    return", "    kwargs.pop('context', None)\n    return"), ONCE),
    "of another meaning": ("NNX110", PRENORM.replace("    return", "    kwargs = {}\n    return"), ONCE),
    "of a function within": (
        "NNX110",
        PRENORM.replace("self.fn(nn.LayerNorm()(x), **kwargs)", "(lambda **kwargs: self.fn(x, **kwargs))(**kwargs)"),
        ONCE,
    ),
    "in a mapping": ("NNX110", PRENORM, "    given = dict(context=other)\n    return PreNorm(Mix())(x, **given)\n"),
    "in the second call alone": (
        "NNX132",
        PRENORM,
        "    block = PreNorm(Mix())\n    return block(block(x), context=other)\n",
    ),
    "in the first call alone": (
        "NNX132",
        PRENORM,
        "    block = PreNorm(Mix())\n    return block(block(x, context=other))\n",
    ),
    "in some passes of a loop": (
        "NNX132",
        PRENORM,
        "    block = PreNorm(Mix())\n    for i in range(2):\n      x = block(x, context=other) if i else block(x)\n"
        "    return x\n",
    ),
}


def _plan(head: str, body: str) -> object:
    text = named_outside(head + MIX + body)
    return {c.qualname: c for c in migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes}["m.M"]


@pytest.mark.parametrize("what", REFUSED)
def test_it_stays_linen_and_says_why(what: str) -> None:
    code, head, body = REFUSED[what]
    plan = _plan(head, body)
    assert (plan.outcome, plan.code) == ("bridged", code), plan.reason  # type: ignore[attr-defined]


def test_what_is_given_on_as_it_is_becomes_native() -> None:
    plan = _plan(PRENORM, ONCE)
    assert plan.outcome == "native", plan.reason  # type: ignore[attr-defined]
