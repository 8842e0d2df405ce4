"""Methods that make modules for `setup`, which cannot be handed the constructor's sizes: they stay Linen."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

HEAD = "from flax import linen as nn\n\n\n"
CASES = {
    "a class that overrides it": """class M(nn.Module):
  dim: int = 4

  def setup(self):
    self.layer = self.make()

  def make(self):
    return nn.Dense(self.dim)

  def __call__(self, x):
    return self.layer(x)


class N(M):
  def make(self):
    return nn.Dense(2 * self.dim)
""",
}


@pytest.mark.parametrize("what", CASES)
def test_it_stays_linen(what: str) -> None:
    plans = migrate_project([SourceFile.parse(Path("m.py"), "m", HEAD + CASES[what])]).classes
    plan = next(p for p in plans if p.qualname == "m.M")
    assert plan.outcome == "bridged" and plan.code in ("NNX135", "NNX170"), (plan.code, plan.reason)


def test_a_width_that_only_such_a_method_says_is_known() -> None:
    text = """import flax.linen as nn


class Inner(nn.Module):
    widths: tuple = (5, 6)

    def setup(self):
        self.layers = self.make()

    def make(self):
        return [nn.Dense(width) for width in self.widths]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Outer(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(Inner()(x))
"""
    plans = {p.qualname: p for p in migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes}
    assert [plan.outcome for plan in plans.values()] == ["native", "native"]
    assert sorted(a.name for a in plans["m.Outer"].added_arguments) == ["in_features"]
