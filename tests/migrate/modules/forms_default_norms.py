"""Blocks that are given a norm with a flag by some, and are left to their default by others; `CASES` as in forms_basic."""
from functools import partial
from typing import Any, Type

import flax.linen as nn


class Block(nn.Module):
  dim: int
  norm_layer: Type[nn.Module] = nn.LayerNorm
  @nn.compact
  def __call__(self, x):
    y = nn.Dense(self.dim * 2)(self.norm_layer()(x))
    return x + nn.Dense(self.dim)(nn.relu(y))

class Averaged(nn.Module):
  """The default holds the flag itself."""
  dim: int
  norm: Any = partial(nn.BatchNorm, use_running_average=True)
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.dim)(self.norm()(x))

class Actor(nn.Module):
  @nn.compact
  def __call__(self, x, train: bool = False):
    norm = partial(nn.BatchNorm, use_running_average=not train, momentum=0.9)
    x = nn.Dense(6)(norm()(x))
    for n in (6, 6):
      x = Block(n, norm)(x)
    return Block(6)(norm()(x))

class Plain(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Block(dim=6)(x)

class Lifted(nn.Module):
  @nn.compact
  def __call__(self, x, train: bool = False):
    x = nn.remat(Block)(6)(x)
    return nn.remat(Block)(6, norm_layer=partial(nn.BatchNorm, use_running_average=not train))(x)

class OfSetup(nn.Module):
  def setup(self):
    self.first = Block(6)
    self.more = [Averaged(6) for _ in range(2)]
  def __call__(self, x):
    x = self.first(x)
    for block in self.more:
      x = block(x)
    return x

class Both(nn.Module):
  @nn.compact
  def __call__(self, x, train: bool = False):
    x = Averaged(5)(x)
    return Averaged(6, partial(nn.BatchNorm, use_running_average=not train))(x)

CASES = [
  *[(name, {}, [(4, 6)], {"train": train}) for name in ("Actor", "Lifted", "Both") for train in (False, True)],
  ("Plain", {}, [(4, 6)], {}),
  ("OfSetup", {}, [(4, 6)], {}),
]
