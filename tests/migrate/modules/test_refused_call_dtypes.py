"""Layers in a dtype that only the call knows, where NNX's layer cannot be told it: the class stays Linen."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

HEAD = """import flax.linen as nn
import jax


class M(nn.Module):
  kind: str = "layer"
  @nn.compact
  def __call__(self, x, i):
"""
REFUSED = {
    "a table, whose own dtype stands in for none": "return nn.Embed(9, 5, dtype=x.dtype)(i) + x",
    "attention, whose layers hold it": "return nn.MultiHeadDotProductAttention(1, dtype=x.dtype)(x, x)",
    "a cell": "return nn.GRUCell(5, dtype=x.dtype)(x, x)[1]",
    "under a lifted transform": "return nn.remat(nn.Dense)(3, dtype=x.dtype)(x)",
    "one of two factories": "return (nn.Dense if self.kind == 'layer' else nn.DenseGeneral)(3, dtype=x.dtype)(x)",
    "handed to another module": "return nn.WeightNorm(nn.Dense(3, dtype=x.dtype))(x)",
}


@pytest.mark.parametrize("what", REFUSED)
def test_it_stays_linen(what: str) -> None:
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", HEAD + f"    {REFUSED[what]}\n")])
    plan = {c.qualname: c for c in result.classes}["m.M"]
    assert (plan.outcome, plan.code) == ("bridged", "NNX113"), plan.reason


def test_a_function_that_one_class_gives_a_dtype_and_another_its_inputs() -> None:
    text = HEAD.replace("class M", "def dense(x, dtype):\n  return nn.Dense(3, dtype=dtype)(x)\n\n\nclass M")
    text += "    return dense(x, x.dtype)\n\n\nclass N(nn.Module):\n  @nn.compact\n"
    text += "  def __call__(self, x):\n    return dense(x, 'bfloat16')\n"
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    after = result.files[0].after
    assert "self.Dense_0 = nnx.Linear(in_features, 3, dtype='bfloat16', rngs=rngs)" in after
    assert "linen_parity.computing_in(self.Dense_0, x.dtype)(x)" in after
