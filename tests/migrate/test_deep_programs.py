"""Programs in which functions call one another hundreds of times in a row are followed without an end to the stack."""

from __future__ import annotations

import sys
from pathlib import Path

from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

MODEL = """from flax import linen as nn


class Net(nn.Module):
  layer: nn.Module

  @nn.compact
  def __call__(self, x):
    return self.layer(x)


"""


def _chain(length: int) -> str:
    """`length` functions, each of which is given a value by the next one and hands over what the one before it gives."""
    functions = [f"def make_{i}(given):\n  kept = make_{i - 1}(given)\n  return kept\n\n\n" for i in range(1, length)]
    return "".join(["def make_0(given):\n  return given\n\n\n", *functions])


def test_a_long_chain_of_calls() -> None:
    text = f"{MODEL}{_chain(300)}model = Net(make_299(nn.Dense(4)))\n"
    limit = sys.getrecursionlimit()
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    assert result.files[0].after is not None
    assert [c.qualname for c in result.classes] == ["m.Net"]
    assert sys.getrecursionlimit() == limit
