"""Variables of parts that are read by names which Linen counts, where the count is not certain: the class stays Linen."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

HEAD = """import flax.linen as nn


class M(nn.Module):
  several: bool = True
  @nn.compact
  def __call__(self, i, x):
"""
READ = "return x, y @ self.variables['params']['Embed_1']['embedding'].T"
REFUSED = {
    "one before it is made under a condition": """
    if self.several:
      x = nn.Embed(7, 4)(i)
    y = nn.Embed(7, 5)(i)
""",
    "a loop makes it": """
    for _ in range(2):
      y = nn.Embed(7, 4)(i)
""",
    "another has its name": """
    x = nn.Embed(7, 4)(i)
    y = nn.Embed(7, 4)(i)
    y = nn.Embed(7, 4, name="Embed_1")(i)
""",
    "it is not made": """
    y = nn.Embed(7, 4)(i)
""",
}


@pytest.mark.parametrize("what", REFUSED)
def test_it_stays_linen(what: str) -> None:
    text = f"{HEAD}{REFUSED[what]}    {READ}\n"
    plan = {c.qualname: c for c in migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes}["m.M"]
    assert plan.outcome == "bridged", what


def test_ranks_that_callers_disagree_about_are_guessed() -> None:
    text = """import flax.linen as nn
import jax.numpy as jnp


class Head(nn.Module):
  @nn.compact
  def __call__(self, x, table):
    return nn.Dense(3)(x @ jnp.transpose(table))


class M(nn.Module):
  @nn.compact
  def __call__(self, i):
    x = nn.Embed(7, 4)(i)
    table = self.param("table", nn.initializers.normal(), (5, 4))
    more = self.param("more", nn.initializers.normal(), (2, 5, 4))
    return Head()(x, table), Head()(x, more)
"""
    plans = {c.qualname: c for c in migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes}
    notes = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).files[0].diagnostics
    assert plans["m.Head"].outcome == "bridged" or any(d.code == "NNX115" for d in notes)
