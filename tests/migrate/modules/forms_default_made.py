"""Fields that a `default_factory` makes a module for, where modules construct the class; `CASES` as in forms_basic."""

import dataclasses
from dataclasses import field
from typing import Any

import flax.linen as nn
import jax.numpy as jnp


class Inner(nn.Module):
  width: int = 3

  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.width)(x)


class Block(nn.Module):
  """Linen takes what the factories make for modules of whoever constructs it."""

  out: int = 4
  inner: nn.Module = dataclasses.field(default_factory=Inner)
  norm: nn.Module = field(default_factory=nn.LayerNorm)
  act: Any = nn.tanh

  @nn.compact
  def __call__(self, x):
    return self.act(nn.Dense(self.out)(self.norm(self.inner(x))))


class Compact(nn.Module):
  @nn.compact
  def __call__(self, x):
    x = Inner(5)(x)
    x = Block(3)(Block(norm=nn.RMSNorm(), act=nn.relu)(x))
    return Block(2, Inner(3), name='last')(x)


class InSetup(nn.Module):
  depth: int = 2

  def setup(self):
    self.first = Block()
    self.blocks = [Block(3, act=nn.relu) for _ in range(self.depth)]
    self.last = Block(
      out=2,
      norm=nn.LayerNorm(epsilon=1e-3),
    )

  def __call__(self, x):
    x = self.first(x)
    for block in self.blocks:
      x = block(x)
    return self.last(x)


class InLoop(nn.Module):
  depth: int = 3

  @nn.compact
  def __call__(self, x):
    for i in range(self.depth):
      x = Block(3 + i)(x)
    return Block(2)(x)


CASES = [
  ('Compact', {}, [(2, 4)], {}),
  ('InSetup', {}, [(2, 4)], {}),
  ('InLoop', {}, [(2, 4)], {}),
  ('InSetup', {'depth': 1}, [(2, 3, 4)], {}),
  ('InLoop', {'depth': 0}, [(2, 4)], {}),
]
