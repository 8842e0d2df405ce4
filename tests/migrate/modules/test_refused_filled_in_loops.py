"""Lists that `setup` fills in loops, in ways that do not say which item follows which: they stay Linen."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

pytestmark = pytest.mark.usefixtures("sizes_by_reading")

HEAD = """from typing import Any

import jax.numpy as jnp
from flax import linen as nn


class Cat(nn.Module):
  def __call__(self, x):
    return jnp.concatenate([x, x], -1)


"""
REFUSED = {
    "an item under a condition, first in every pass": """class M(nn.Module):
  n: int = 3
  act: bool = True

  def setup(self):
    layers = []
    for i in range(self.n):
      if self.act:
        layers.append(Cat())
      layers.append(nn.Dense(4))
    self.layers = layers

  def __call__(self, x):
    for layer in self.layers:
      x = layer(x)
    return x
""",
    "a loop in a loop, behind an item": """class M(nn.Module):
  n: int = 2
  m: int = 2

  def setup(self):
    layers = []
    for i in range(self.n):
      layers.append(nn.Dense(4))
      for j in range(self.m):
        layers.append(nn.Dense(5))
    self.layers = layers

  def __call__(self, x):
    for layer in self.layers:
      x = layer(x)
    return x
""",
    "a loop in a loop, before an item": """class M(nn.Module):
  n: int = 2
  m: int = 2

  def setup(self):
    layers = []
    for i in range(self.n):
      for j in range(self.m):
        layers.append(nn.Dense(5))
      layers.append(nn.Dense(4))
    self.layers = layers

  def __call__(self, x):
    for layer in self.layers:
      x = layer(x)
    return x
""",
    "a loop that there may not be": """class M(nn.Module):
  widths: Any = (4, 5)
  deep: bool = True

  def setup(self):
    layers = [nn.Dense(3)]
    if self.deep:
      for w in self.widths:
        layers.append(nn.Dense(w))
    layers.append(nn.Dense(2))
    self.layers = layers

  def __call__(self, x):
    for layer in self.layers:
      x = layer(x)
    return x
""",
    "called in reverse": """class M(nn.Module):
  widths: Any = (4, 5)

  def setup(self):
    layers = []
    for w in self.widths:
      layers.append(nn.Dense(w))
      layers.append(nn.Dense(w))
    self.layers = layers
    self.out = nn.Dense(2)

  def __call__(self, x):
    for layer in reversed(self.layers):
      x = layer(x)
    return x
""",
    "every second item": """class M(nn.Module):
  widths: Any = (4, 5)

  def setup(self):
    layers = []
    for w in self.widths:
      layers.append(nn.Dense(w))
      layers.append(nn.Dense(w))
    self.layers = layers
    self.out = nn.Dense(2)

  def __call__(self, x):
    for layer in self.layers[::2]:
      x = layer(x)
    for layer in self.layers[1::2]:
      x = layer(x)
    return self.out(x)
""",
    "the first item by a slice": """class M(nn.Module):
  widths: Any = (4, 5)

  def setup(self):
    layers = [nn.Dense(4)]
    for w in self.widths:
      layers.append(nn.Dense(w))
    self.layers = layers

  def __call__(self, x):
    y = self.layers[0](x)
    for layer in self.layers[1:]:
      y = layer(y)
    for layer in self.layers[:1]:
      z = layer(x)
    return y + z.sum()
""",
    "items by computed numbers": """class M(nn.Module):
  n: int = 3

  def setup(self):
    layers = []
    for i in range(self.n):
      layers.append(nn.Dense(4))
      layers.append(nn.Dense(5))
    self.layers = layers

  def __call__(self, x):
    for i in range(self.n):
      x = self.layers[2 * i](x)
      x = self.layers[2 * i + 1](x)
    return x
""",
    "items in pairs": """class M(nn.Module):
  n: int = 3

  def setup(self):
    layers = []
    for i in range(self.n):
      layers.append(nn.Dense(4))
      layers.append(nn.Dense(4))
    self.layers = layers

  def __call__(self, x):
    for a, b in zip(self.layers[::2], self.layers[1::2]):
      x = b(a(x))
    return x
""",
    "another size in the first pass of the call": """class M(nn.Module):
  widths: Any = (4, 5)

  def setup(self):
    layers = []
    for w in self.widths:
      layers.append(nn.Dense(w))
      layers.append(nn.Dense(w))
    self.layers = layers

  def __call__(self, x):
    skips = []
    for i, layer in enumerate(self.layers):
      x = layer(x)
      if i == 0:
        x = jnp.concatenate([x, x], -1)
      skips.append(x)
    return x
""",
    "a number changed between two modules of a pass": """class M(nn.Module):
  n: int = 2

  def setup(self):
    blocks = []
    d = 4
    for _ in range(self.n):
      blocks.append(nn.Dense(d))
      d += 1
      blocks.append(nn.Dense(d))
    self.blocks = blocks

  def __call__(self, x):
    for block in self.blocks:
      x = block(x)
    return x
""",
    "a number changed behind the loop": """class M(nn.Module):
  n: int = 2

  def setup(self):
    d = 4
    blocks = []
    for _ in range(self.n):
      blocks.append(nn.Dense(d))
      d = d * 2
    self.blocks = blocks
    self.mid = nn.Dense(d)
    d = d // 2
    self.out = nn.Dense(d)
    self.last = nn.Dense(2)

  def __call__(self, x):
    for block in self.blocks:
      x = block(x)
    return self.last(self.out(self.mid(x)))
""",
    "norms in another order than the layers before them": """class M(nn.Module):
  widths: Any = (4, 5)

  def setup(self):
    self.layers = [nn.Dense(f) for f in self.widths]
    self.norms = [nn.LayerNorm() for _ in self.widths]

  def __call__(self, x):
    for layer, norm in zip(self.layers, self.norms[::-1]):
      x = nn.relu(norm(layer(x)))
    return x
""",
    "names of passes that run over something else": """class M(nn.Module):
  widths: Any = (4, 5)
  count: int = 2

  def setup(self):
    self.layers = [nn.Dense(f) for f in self.widths]
    self.norms = [nn.LayerNorm() for _ in range(self.count)]

  def __call__(self, x):
    for layer, norm in zip(self.layers, self.norms):
      x = nn.relu(norm(layer(x)))
    return x
""",
    "norms that the last pass goes round": """class M(nn.Module):
  n: int = 3
  def setup(self):
    self.ls = [nn.Dense(4) for _ in range(self.n)]
    self.ns = [nn.LayerNorm() for _ in range(self.n)]
  def __call__(self, x):
    last = self.n - 1
    for i in range(self.n):
      x = self.ls[i](x)
      if i == last:
        continue
      x = self.ns[i](x)
    return x
""",
    "a list whose first item no pass calls": """class M(nn.Module):
  n: int = 3
  def setup(self):
    self.ls = [nn.Dense(4) for _ in range(self.n)]
  def __call__(self, x):
    for i, l in enumerate(self.ls):
      if i > 0:
        x = l(x)
    return x
""",
    "norms of a compact method that the last pass does not call": """class M(nn.Module):
  n: int = 3
  @nn.compact
  def __call__(self, x):
    ls = [nn.Dense(4) for _ in range(self.n)]
    ns = [nn.LayerNorm() for _ in range(self.n)]
    for i, l in enumerate(ls):
      x = l(x)
      if i != len(ls) - 1:
        x = ns[i](x)
    return x
""",
    "the size before the last item, for another layer": """class M(nn.Module):
  widths: Any = (4, 5, 6)

  def setup(self):
    self.layers = [nn.Dense(w) for w in self.widths]
    self.out = nn.Dense(2)

  def __call__(self, x):
    for layer in self.layers[:-1]:
      x = nn.relu(layer(x))
    return self.layers[-1](x).sum() + self.out(x)
""",
    "all but the last item": """class M(nn.Module):
  widths: Any = (4, 5, 6)

  def setup(self):
    self.layers = [nn.Dense(w) for w in self.widths]

  def __call__(self, x):
    for layer in self.layers[:-1]:
      x = nn.relu(layer(x))
    return x
""",
    "the last item with another size": """class M(nn.Module):
  widths: Any = (4, 5, 6)

  def setup(self):
    self.layers = [nn.Dense(w) for w in self.widths]

  def __call__(self, x):
    for layer in self.layers[:-1]:
      x = nn.relu(layer(x))
    return self.layers[-1](jnp.concatenate([x, x], -1))
""",
    "the first item after all but the last": """class M(nn.Module):
  widths: Any = (4, 5, 6)

  def setup(self):
    self.layers = [nn.Dense(w) for w in self.widths]

  def __call__(self, x):
    for layer in self.layers[:-1]:
      x = nn.relu(layer(x))
    return self.layers[0](x)
""",
    "all but the last, zipped": """class M(nn.Module):
  widths: Any = (4, 5, 6)

  def setup(self):
    self.layers = [nn.Dense(w) for w in self.widths]
    self.norms = [nn.LayerNorm() for w in self.widths[:-1]]

  def __call__(self, x):
    for layer, n in zip(self.layers[:-1], self.norms):
      x = nn.relu(n(layer(x)))
    return self.layers[-1](x)
""",
    "the list once more after the last item": """class M(nn.Module):
  widths: Any = (4, 5, 6)

  def setup(self):
    self.layers = [nn.Dense(w) for w in self.widths]

  def __call__(self, x):
    for layer in self.layers[:-1]:
      x = nn.relu(layer(x))
    x = self.layers[-1](x)
    for layer in self.layers[:-1]:
      x = nn.relu(layer(x))
    return x
""",
    "all but the last of pairs": """class M(nn.Module):
  widths: Any = (4, 5, 6)

  def setup(self):
    layers = []
    for w in self.widths:
      layers.append(nn.Dense(w))
      layers.append(nn.Dense(w))
    self.layers = layers

  def __call__(self, x):
    for layer in self.layers[:-1]:
      x = nn.relu(layer(x))
    return self.layers[-1](x)
""",
    "the size before the last item, in a compact method": """class M(nn.Module):
  widths: Any = (4, 5, 6)

  def setup(self):
    self.layers = [nn.Dense(w) for w in self.widths]

  @nn.compact
  def __call__(self, x):
    for layer in self.layers[:-1]:
      x = nn.relu(layer(x))
    return self.layers[-1](x).sum() + nn.Dense(3)(x)
""",
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_list_without_one_order_stays_linen(what: str) -> None:
    plans = migrate_project([SourceFile.parse(Path("m.py"), "m", HEAD + REFUSED[what])]).classes
    plan = next(p for p in plans if p.qualname == "m.M")
    codes = ("NNX110", "NNX114", "NNX121", "NNX132", "NNX157")
    assert plan.outcome == "bridged" and plan.code in codes, (plan.code, plan.reason)
