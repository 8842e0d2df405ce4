"""Items of setup's lists that may be there or not: where it is not known which one is meant, or what Linen calls it."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

HEAD = """from flax import linen as nn


class M(nn.Module):
  depth: int = 3
  more: bool = True
  other: bool = True
"""

REFUSED = {
    "picked where nothing says whether an item before it is there": (
        "NNX110",
        """def setup(self):
  layers = [nn.Dense(8)]
  if self.more:
    layers.append(nn.Dense(8))
  layers.append(nn.Dense(4))
  self.layers = layers
def __call__(self, x):
  return self.layers[1](self.layers[0](x))""",
    ),
    "picked under another condition": (
        "NNX110",
        """def setup(self):
  self.layers = [nn.Dense(8)]
  if self.more:
    self.layers += [nn.Dense(8)]
  self.layers += [nn.Dense(4)]
def __call__(self, x):
  x = self.layers[0](x)
  if self.other and x.ndim == 2:
    x = self.layers[1](x)
  return x""",
    ),
    "a name that is another place than the item's": (
        "NNX155",
        """def setup(self):
  last = 1
  layers = [nn.Dense(8, name="0")]
  if self.more:
    layers.append(nn.Dense(8, name="1"))
    last += 2
  layers.append(nn.Dense(4, name=str(last)))
  self.layers = layers
def __call__(self, x):
  for layer in self.layers:
    x = layer(x)
  return x""",
    ),
    "names of a loop that are other places": (
        "NNX155",
        """def setup(self):
  layers = [nn.Dense(8, name="0")]
  for i in range(self.depth):
    layers.append(nn.Dense(8, name=str(i + 2)))
  self.layers = layers
def __call__(self, x):
  for layer in self.layers:
    x = layer(x)
  return x""",
    ),
    "a name that a condition turns twice": (
        "NNX155",
        """def setup(self):
  last = 1
  layers = [nn.Dense(8, name="0")]
  if self.more:
    layers.append(nn.Dense(8, name="1"))
    last += 1
  if self.other:
    layers.append(nn.Dense(8, name=str(last)))
    last += 1
  layers.append(nn.Dense(4, name=str(last)))
  self.layers = layers
def __call__(self, x):
  for layer in self.layers:
    x = layer(x)
  return x""",
    ),
    "a list of a compact method": (
        "NNX110",
        """@nn.compact
def __call__(self, x):
  layers = [nn.Dense(8)]
  if self.more:
    layers.append(nn.Dense(8))
  for layer in layers:
    x = layer(x)
  return x""",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused(name: str) -> None:
    code, body = REFUSED[name]
    text = HEAD + "".join(f"  {line}\n" for line in body.splitlines())
    (plan,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    assert (plan.outcome, plan.code) == ("bridged", code), plan.reason
