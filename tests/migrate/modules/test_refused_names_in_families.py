"""Attributes with names of their own in Linen that a family of classes does not call alike."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

BASE = """from flax import linen as nn
import jax.numpy as jnp


class Base(nn.Module):
  width: int = 8
  def setup(self):
    self.query = nn.Dense(self.width, name="to_q")
  def __call__(self, x):
    return self.query(x)


"""

REFUSED = {
    "a subclass whose setup gives another name": """class Other(Base):
  def setup(self):
    self.query = nn.Dense(self.width, name="q")
""",
    "a subclass whose setup gives none": """class Other(Base):
  def setup(self):
    self.query = nn.Dense(self.width)
""",
}


@pytest.mark.parametrize("name", REFUSED)
def test_both_classes_stay_linen(name: str) -> None:
    plans = migrate_project([SourceFile.parse(Path("m.py"), "m", BASE + REFUSED[name])]).classes
    found = {c.qualname.rpartition(".")[2]: c for c in plans if c.path == "m.py"}
    assert found["Base"].outcome == "bridged" and found["Base"].code == "NNX155", found["Base"].reason
    assert found["Other"].outcome == "bridged", found["Other"].reason
