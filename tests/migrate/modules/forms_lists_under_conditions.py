"""Lists of `setup` that the call goes through under a condition of the fields: without it Linen makes no variables."""

from typing import Any

import flax.linen as nn
import jax.numpy as jnp


class Tower(nn.Module):
  widths: Any = (4, 6)
  use: bool = True

  def setup(self):
    self.layers = [nn.Dense(w) for w in self.widths]
    self.head = nn.Dense(2)

  def __call__(self, x):
    if self.use:
      for layer in self.layers:
        x = nn.relu(layer(x))
    return self.head(x)


class Numbered(nn.Module):
  n: int = 3
  kind: str = "deep"

  def setup(self):
    self.layers = [nn.Dense(5) for _ in range(self.n)]
    norms = []
    for _ in range(self.n):
      norms.append(nn.LayerNorm())
    self.norms = norms

  def __call__(self, x):
    for i in range(len(self.layers)):
      x = self.layers[i](x)
      if self.kind == "deep":
        x = self.norms[i](x)
    return x


class Helped(nn.Module):
  widths: Any = (4, 6)
  use: bool = True

  def setup(self):
    self.layers = [nn.Dense(w) for w in self.widths]
    self.head = nn.Dense(2)

  def encode(self, x):
    for layer in self.layers:
      x = layer(x)
    return x

  def __call__(self, x):
    y = self.encode(x).sum() if self.use else 0.0
    return self.head(x) + y


class Branches(nn.Module):
  n: int = 2
  use: bool = True

  def setup(self):
    self.heads = [nn.Dense(3) for _ in range(self.n)]
    self.out = nn.Dense(3)

  def __call__(self, x):
    y = self.out(x)
    if self.use:
      y = y + jnp.stack([head(x) for head in self.heads]).sum(0) / len(self.heads)
    return y


class BothConditions(nn.Module):
  n: int = 3
  use: bool = True

  def setup(self):
    self.layers = [nn.Dense(5) for _ in range(self.n)]
    self.norms = [nn.LayerNorm() for _ in range(self.n)]

  def __call__(self, x):
    for layer in self.layers:
      x = layer(x)
    if self.use:
      for i, norm in enumerate(self.norms):
        if i < self.n - 1:
          x = norm(x) + 1
    return x


CASES = [
  ("Tower", {}, [(2, 5)], {}),
  ("Tower", {"use": False}, [(2, 5)], {}),
  ("Numbered", {}, [(2, 5)], {}),
  ("Numbered", {"kind": "flat"}, [(2, 5)], {}),
  ("Helped", {}, [(2, 5)], {}),
  ("Helped", {"use": False}, [(2, 5)], {}),
  ("Branches", {}, [(2, 5)], {}),
  ("Branches", {"use": False}, [(2, 5)], {}),
  ("BothConditions", {}, [(2, 5)], {}),
  ("BothConditions", {"use": False}, [(2, 5)], {}),
]
