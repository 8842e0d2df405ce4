"""Modules of lists that `map` calls where a comprehension would be another program, or is not seen to be the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .outside_code import named_outside

pytestmark = pytest.mark.usefixtures("sizes_by_reading")

HEAD = """import jax.numpy as jnp
from flax import linen as nn


class M(nn.Module):
  @nn.compact
  def __call__(self, x, own=None):
    parts = [nn.Dense(4) for _ in range(2)]
"""
TAKEN = "    return jnp.stack(list(map(lambda part: part(x), parts)))\n"
REFUSED = {
    "results taken later": "    found = map(lambda part: part(x), parts)\n    x = x[..., :1]\n    return sum(found)\n",
    "a function with a name": "    call = lambda part: part(x)\n    x = x[..., :1]\n    return sum(map(call, parts))\n",
    "two lists": "    return sum(map(lambda part, k: part(x) * k, parts, (1, 2)))\n",
    "a default": "    return sum(map(lambda part, y=x: part(y), parts))\n",
    "a taker of another meaning": TAKEN.replace("    return", "    list = own or tuple\n    return"),
    "a module that is called when its name means another": (
        "    layer = nn.Dense(3)\n    y = map(layer, [x, x])\n    layer = nn.Dense(4)\n    return list(y), layer(x)\n"
    ),
    "modules that are called when the loop is over": (
        "    for w in (3, 4):\n      layer = nn.Dense(w)\n      parts.append(map(layer, [x]))\n"
        "    return [*parts[-1], *parts[-2]]\n"
    ),
    "a comment within": TAKEN.replace("(map(", "(map(  # each\n"),
}


def _plan(body: str) -> object:
    text = named_outside(HEAD + body)
    return {c.qualname: c for c in migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes}["m.M"]


@pytest.mark.parametrize("what", REFUSED)
def test_it_stays_linen_and_says_why(what: str) -> None:
    plan = _plan(REFUSED[what])
    assert (plan.outcome, plan.code) == ("bridged", "NNX110"), plan.reason  # type: ignore[attr-defined]


def test_results_taken_at_once_become_native() -> None:
    plan = _plan(TAKEN)
    assert plan.outcome == "native", plan.reason  # type: ignore[attr-defined]
