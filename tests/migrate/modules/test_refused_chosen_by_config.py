"""What an object chooses that is not the field's own: the class stays Linen."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

HEAD = """import flax.linen as nn
from flax import struct


@struct.dataclass
class Config:
  remat: bool = True


class Block(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4)(x)


class M(nn.Module):
  config: Config = Config()
  @nn.compact
  def __call__(self, x):
    cfg = self.config
    block = Block
"""
REFUSED = {
    "an object of the call": "cfg = Config(remat=x.shape[0] > 3)",
    "an array of the call": "cfg = cfg.replace(remat=x.sum() > 0)",
}


@pytest.mark.parametrize("what", REFUSED)
def test_it_stays_linen(what: str) -> None:
    text = HEAD + f"    {REFUSED[what]}\n    if cfg.remat:\n      block = nn.remat(block)\n    return block()(x)\n"
    plan = {c.qualname: c for c in migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes}["m.M"]
    assert plan.outcome == "bridged"
