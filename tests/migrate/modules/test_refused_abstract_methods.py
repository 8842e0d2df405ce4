"""Abstract methods that a class leaves out, and fields over properties: Linen makes such a class, and NNX would not."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

BASE = """import abc
from flax import linen as nn


class Base(nn.Module):
  @abc.abstractmethod
  def encode(self, x): ...

  @property
  @abc.abstractmethod
  def width(self): ...


"""
CALL = """
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.width)(x)
"""
LEFT_OUT = "class M(Base):\n  width = 3" + CALL
NO_CONSTANT = "class M(Base):\n  width: int = max(2, 3)\n  def encode(self, x):\n    return x" + CALL
WHOLE = "class M(Base):\n  width: int = 3\n  def encode(self, x):\n    return x" + CALL
BY_PYTHON = LEFT_OUT.replace("M(Base)", "M(Base, abc.ABC)")


@pytest.mark.parametrize(
    "text,outcome",
    [(LEFT_OUT, "bridged"), (NO_CONSTANT, "bridged"), (WHOLE, "native"), (BY_PYTHON, "native")],
    ids=["a method left out", "a default that is computed", "all there", "no instance in Linen either"],
)
def test_what_nnx_would_not_make_stays_linen(text: str, outcome: str) -> None:
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", BASE + text)])
    plan = next(c for c in result.classes if c.qualname == "m.M")
    assert plan.outcome == outcome
    assert outcome == "native" or plan.code == "NNX161"
