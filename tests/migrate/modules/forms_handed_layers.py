"""Layers that other modules hold, among layers that are taken one by one; `CASES` as in forms_basic."""

from typing import Any

from flax import linen as nn


class R(nn.Module):
  inner: nn.Module
  @nn.compact
  def __call__(self, x):
    return x + self.inner(x)


class ByName(nn.Module):
  depth: int = 3
  hidden: int = 2
  @nn.compact
  def __call__(self, x):
    for i in range(self.depth):
      inner = nn.Dense(x.shape[-1])
      x = R(inner)(x)
    r = x
    x = nn.Dense(2 * self.hidden)(x)
    if r.shape[-1] != x.shape[-1]:
      r = nn.Dense(x.shape[-1])(r)
    x = x + r
    return nn.Dense(4)(x)


class InSequential(nn.Module):
  depth: int = 3
  hidden: int = 2
  @nn.compact
  def __call__(self, x):
    for i in range(self.depth):
      x = nn.Sequential([nn.Dense(x.shape[-1]), nn.relu, nn.Dense(4)])(x)
    r = x
    x = nn.Dense(2 * self.hidden)(x)
    if r.shape[-1] != x.shape[-1]:
      r = nn.Dense(x.shape[-1])(r)
    x = x + r
    return nn.Dense(4)(x)


class InCells(nn.Module):
  flag: bool = True
  @nn.compact
  def __call__(self, x):
    for i in range(2):
      x = nn.RNN(nn.SimpleCell(4))(x)
      if self.flag:
        x = nn.RNN(nn.SimpleCell(4))(x)
    return nn.Dense(4)(x)


CASES: list[Any] = [
    ('ByName', {}, [(3, 4)], {}),
    ('InSequential', {}, [(3, 4)], {}),
    ('InCells', {}, [(2, 3, 4)], {}),
    ('ByName', {'hidden': 3}, [(3, 4)], {}),
]
