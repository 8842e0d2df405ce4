"""Lists of sizes that the call changes in ways that the constructor cannot repeat."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

MODULE = """import flax.linen as nn


class M(nn.Module):
  sizes: tuple = (1, 4)

  @nn.compact
  def __call__(self, x, train: bool = True, more=None):
    shape = []
{body}
    return x + self.param('table', nn.initializers.ones, shape)
"""

REFUSED = {
    "a flag of the call": "    if train:\n      shape.append(1)",
    "an argument of the call": "    shape.append(more)",
    "a loop over what arrays hold": "    for d in x:\n      shape.append(1)",
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_list_that_the_constructor_cannot_fill(what: str) -> None:
    text = MODULE.format(body=REFUSED[what])
    result = migrate_project([SourceFile.parse(Path("net.py"), "net", text)])
    (plan,) = result.classes
    assert plan.outcome == "bridged" and plan.code in ("NNX111", "NNX113"), (plan.code, plan.reason)


LAYERS = """import flax.linen as nn


class M(nn.Module):
  sizes: tuple = (1, 4)

  @nn.compact
  def __call__(self, x, train: bool = True):
    sizes = list(self.sizes)
{body}
    for size in sizes:
      x = nn.Dense(size)(x)
    return x
"""

NOT_GONE_THROUGH = {
    "a flag of the call": "    if train:\n      sizes.append(3)",
    "a loop that is left": "    for size in x.shape:\n      sizes.append(size)\n      if train:\n        break",
}


@pytest.mark.parametrize("what", NOT_GONE_THROUGH)
def test_a_changed_list_that_the_constructor_cannot_go_through(what: str) -> None:
    text = LAYERS.format(body=NOT_GONE_THROUGH[what])
    result = migrate_project([SourceFile.parse(Path("net.py"), "net", text)])
    (plan,) = result.classes
    assert plan.outcome == "bridged" and plan.code in ("NNX113", "NNX122", "NNX123"), (plan.code, plan.reason)
