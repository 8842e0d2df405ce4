"""`class TrainState(TrainState)`: classes that take the name of what they derive from."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

HEAD = "import flax.linen as nn\nfrom flax.linen import Dense, Module\nfrom flax.training.train_state import TrainState\n\n"
USE = """
class Uses(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Layer(4)(x) if hasattr(x, 'shape') else x
"""
LAYER = (
    "class Layer(nn.Module):\n  width: int\n  @nn.compact\n  def __call__(self, x):\n    return nn.Dense(self.width)(x)\n"
)
# What the file has → the codes of what stays Linen. Nothing in it may be taken for what the name means below.
KEPT = {
    "a layer with a changed default": (
        "class Dense(Dense):\n  use_bias: bool = False\n" + USE.replace("Layer", "Dense"),
        {"Dense", "Uses"},
    ),
    "a layer with a call of its own": (
        "class Dense(Dense):\n  def __call__(self, x):\n    return nn.relu(super().__call__(x))\n"
        + USE.replace("Layer", "Dense"),
        {"Dense", "Uses"},
    ),
    "the base of all modules": (
        "class Module(Module):\n  def twice(self, x):\n    return 2 * x\n\n"
        "class Layer(Module):\n  width: int\n  @nn.compact\n  def __call__(self, x):\n    return nn.Dense(self.width)(x)\n",
        {"Module", "Layer"},
    ),
    "a class of the same file": (
        LAYER + "class Layer(Layer):\n  def twice(self, x):\n    return 2 * self(x)\n",
        {"Layer"},
    ),
    "a circle of names": (
        LAYER + "class Other(Layer):\n  pass\nclass Layer(Other):\n  pass\n",
        {"Layer", "Other"},
    ),
}
PLAIN = """
class TrainState(TrainState):
  target: object

class Trainer:
  cls = nn.Dense
  def __init__(self, **fields):
    self.model = self.cls(**fields)

class Trainer(Trainer):
  def run(self, x):
    return self.cls(4), TrainState

class Later(Trainer):
  pass

Later().run(1)
"""


def migrated(text: str):
    return migrate_project([SourceFile.parse(Path("program.py"), "program", HEAD + textwrap.dedent(text))])


@pytest.mark.parametrize("name", KEPT)
def test_what_derives_from_its_own_name_stays(name: str) -> None:
    text, kept = KEPT[name]
    result = migrated(text)
    assert {c.qualname.rpartition(".")[2] for c in result.classes if c.outcome != "native"} == kept
    assert "NNX175" in {d.code for d in result.files[0].diagnostics}


def test_classes_that_are_no_modules_are_followed() -> None:
    """Their line of bases ended nowhere before: the whole run failed."""
    result = migrated(PLAIN)
    assert not [d for d in result.files[0].diagnostics if d.code == "NNX001"]
