"""`__post_init__` that another constructor could not run once for all times that Linen does, or that keeps layers."""

from __future__ import annotations

from pathlib import Path

import pytest
from flax import nnx
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .test_forms import sides

HEAD = """import dataclasses
from typing import Any
import numpy as np
from flax import linen as nn


class Other(nn.Module):
  size: int = 3


class M(nn.Module):
  width: int = 3
  depth: int = 2
  kind: str = 'a'
  norm: Any = None
  options: Any = None
  def __post_init__(self):
    BODY
    super().__post_init__()
  def widen(self):
    return self.width * 2
  @property
  def double(self):
    return self.width * 2
  @nn.compact
  def __call__(self, x):
    width = 3
    return nn.Dense(self.width)(x) * width
"""

REFUSED = {
    "twice as much at every clone": "self.width = 2 * self.width",
    "in place": "self.width += 1",
    "through a name": "w = 2 * self.width\nself.width = w",
    "through a tuple": "self.width, self.depth = self.depth, self.width",
    "read before it is changed": "self.half = self.width // 2\nself.width = 8",
    "changed after what follows it": "self.width = self.depth\nself.depth = 7",
    "under what it changes": "if self.width > 2:\n  self.width = self.width - 1",
    "a table of its values": "self.kind = {'a': 'b', 'b': 'c'}[self.kind]",
    "either way": "if self.norm is None:\n  self.norm = 1\nelse:\n  self.norm = (self.norm,)",
    "kinds that stay": "if isinstance(self.norm, tuple):\n  self.norm = (self.norm, 1)",
    "an attribute or not": "if self.norm is None:\n  self.norm = 1\n  self.extra = 2",
    "in a loop": "for i in range(3):\n  self.last = i",
    "a layer for none": "if self.norm is None:\n  self.norm = nn.LayerNorm",
    "a layer": "self.inner = nn.Dense(3)",
    "the fields of another class": "self.sizes = len(dataclasses.fields(Other))",
    "a method": "self.wide = self.widen()",
    "a property": "self.wide = self.double",
    "what the caller's dict holds": "options = self.options\noptions['a'] = 1\nself.options = options",
    "an item of a field": "self.options['a'] = 1",
    "the module handed on": "self.width = max(vars(self).values())",
    "what Linen keeps": "self.above = self.parent",
    "a name of the methods": "width = 5\nself.depth = width",
    "with": "with np.errstate():\n  self.width = 4",
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused(name: str) -> None:
    text = HEAD.replace("BODY", REFUSED[name].replace("\n", "\n    "))
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    found = {c.qualname: c for c in result.classes}["m.M"]
    assert (str(found.outcome.value), found.code) == ("bridged", "NNX173"), (found.reason, result.files[0].after)


def test_two_that_compute() -> None:
    text = HEAD.replace("BODY", "self.half = 2") + (
        "\n\nclass N(M):\n  def __post_init__(self):\n    self.third = 3\n    super().__post_init__()\n"
    )
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    assert {c.qualname: c.code for c in result.classes}["m.N"] == "NNX173"


ASKED = """from flax import linen as nn


class M(nn.Module):
  width: int = None
  def __post_init__(self):
    self.width = self.width or 4
    self.half = self.width // 2
    super().__post_init__()
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.width)(x)


def main(config):
  model = M(config.width)
  ASK
"""


@pytest.mark.parametrize(
    "ask, outcome",
    [
        ("print(model.width)", "bridged"),
        ("print(model.half)", "bridged"),
        ("print(hasattr(model, 'half'))", "bridged"),
        ("print(config.width)", "native"),
    ],
)
def test_asked_of_a_model_that_is_not_made_yet(ask: str, outcome: str) -> None:
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", ASKED.replace("ASK", ask))])
    (found,) = result.classes
    assert found.outcome.value == outcome and found.code == ("NNX173" if outcome == "bridged" else ""), found.reason


def test_what_a_base_only_checks_is_checked_behind_what_a_class_computes() -> None:
    linen, native, _ = sides("forms_post_inits")
    for name in ("Checked", "BelowChecked", "FurtherBelow"):
        sizes = {} if name == "Checked" else {"in_features": 3}
        with pytest.raises(ValueError, match="no layers"):
            getattr(linen, name)(depth=0)
        with pytest.raises(ValueError, match="no layers"):
            getattr(native, name)(depth=0, **sizes, rngs=nnx.Rngs(0))


def test_a_base_that_checks_before_a_class_computes() -> None:
    text = HEAD.replace("BODY", "assert self.width > 0") + (
        "\n\nclass N(M):\n  def __post_init__(self):\n    super().__post_init__()\n    self.width = 8\n"
    )
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    assert {c.qualname: c.code for c in result.classes}["m.N"] == "NNX173"
