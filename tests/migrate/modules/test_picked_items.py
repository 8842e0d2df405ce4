"""A loop that picks modules by number: the constructor checks that one width does for all; what cannot be checked stays."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import pytest
from flax import nnx
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .forms_picked_items import Groups

LOOPS = (Path(__file__).parent / "forms_picked_items.py").read_text()
CHANGING = """from flax import linen as nn


class Steps(nn.Module):
  sizes: tuple = (4, 4, 4)

  def setup(self):
    self.layers = [nn.Dense(size) for size in self.sizes]

  def __call__(self, x):
    for i in range(6):
      x = self.layers[i % 3](x)
    return x


class Backwards(nn.Module):
  width: int = 8

  def setup(self):
    self.layers = [nn.Dense(self.width) for _ in range(3)]

  def __call__(self, x):
    for layer in reversed(self.layers):
      x = layer(x)
    return x
"""


def _migrated(text: str) -> Any:
    return migrate_project([SourceFile.parse(Path("picked.py"), "picked", text)])


def test_the_constructor_raises_where_the_widths_differ() -> None:
    found = _migrated(LOOPS).files[0]
    assert "NNX117" in {d.code for d in found.diagnostics}
    module: Any = types.ModuleType("picked_nnx")
    sys.modules["picked_nnx"] = module
    exec(found.after or "", module.__dict__)
    assert Groups().width == 8
    module.Groups(in_features=8, rngs=nnx.Rngs(0))
    for name in ("Groups", "Cyclic", "CyclicCompact"):
        with pytest.raises(ValueError, match="`in_features` must be `width`"):
            getattr(module, name)(in_features=6, rngs=nnx.Rngs(0))


@pytest.mark.parametrize(("name", "code"), [("Steps", "NNX110"), ("Backwards", "NNX114")])
@pytest.mark.usefixtures("sizes_by_reading")
def test_widths_of_the_items_themselves_and_other_orders_stay_linen(name: str, code: str) -> None:
    plan = next(c for c in _migrated(CHANGING).classes if c.qualname.endswith(name))
    assert (plan.outcome, plan.code) == ("bridged", code), plan.reason
