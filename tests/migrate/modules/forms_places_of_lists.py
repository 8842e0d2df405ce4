"""Loops over the places of a list that is written out: `for i in range(len(self.blocks))`; `CASES` as in forms_basic."""

from typing import Any
import jax.numpy as jnp
from flax import linen as nn


class Block(nn.Module):
  width: int
  @nn.compact
  def __call__(self, x):
    return nn.relu(nn.Dense(self.width)(x))


class Stack(nn.Module):
  scale: int = 1
  cond: bool = False
  def setup(self):
    sizes = [4, 6, 8]
    self.blocks = [Block(sizes[0] * self.scale), Block(sizes[1] * self.scale), Block(sizes[2])]
  @nn.compact
  def __call__(self, x, y):
    for i in range(len(self.blocks)):
      x = self.blocks[i](x)
      if self.cond:
        x = x * nn.Dense(x.shape[-1])(y)
    return nn.relu(x)


class ByPlace(nn.Module):
  widths: tuple[int, ...] = (5, 6)
  def setup(self):
    self.blocks = [Block(4), nn.Dense(3)]
  @nn.compact
  def __call__(self, x):
    for i in range(len(self.blocks)):
      x = self.blocks[i](x)
      x = nn.Dense(self.widths[i] + i)(x)
      if i < len(self.blocks) - 1:
        x = nn.relu(x)
    return x


class Backwards(nn.Module):
  def setup(self):
    self.blocks = [Block(4), Block(5), Block(6)]
    self.last = nn.Dense(2)
  def __call__(self, x):
    n = len(self.blocks)
    for i in range(len(self.blocks)):
      x = self.blocks[n - 1 - i](x)
    return self.last(x)


class InCompact(nn.Module):
  @nn.compact
  def __call__(self, x):
    blocks = [nn.Dense(4), nn.Dense(5)]
    outs = []
    for i in range(len(blocks)):
      x = blocks[i](x)
      outs.append(x)
    return jnp.concatenate(outs, -1), nn.Dense(2)(x)


class ByNumber(nn.Module):
  def setup(self):
    self.blocks = [Block(4), Block(5), Block(6)]
    self.outs = [nn.Dense(2), nn.Dense(3)]
  def __call__(self, x):
    for i in range(2, -1, -1):
      x = self.blocks[i](x)
    return [self.outs[i](x) for i in range(2)]


CASES: list[Any] = [
    ('Stack', dict(), [(2, 3), (2, 5)], dict()),
    ('Stack', dict(cond=True), [(2, 3), (2, 5)], dict()),
    ('ByPlace', dict(), [(2, 3)], dict()),
    ('Backwards', dict(), [(2, 3)], dict()),
    ('InCompact', dict(), [(2, 3)], dict()),
    ('ByNumber', dict(), [(2, 3)], dict()),
]
