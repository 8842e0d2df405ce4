"""Layers that are made alike whichever way a condition goes; `CASES` as in forms_basic."""

from typing import Any

import jax.numpy as jnp
from flax import linen as nn


class SameNorm(nn.Module):
  norm_input: bool = False
  @nn.compact
  def __call__(self, x, train: bool):
    if self.norm_input:
      x = nn.BatchNorm(use_running_average=not train)(x)
    else:
      _ = nn.BatchNorm(use_running_average=not train)(x)
      x = x / 2.0
    return nn.Dense(4)(x)


class SameOfUnlikeWidths(nn.Module):
  wide: bool = False
  size: int = 3
  @nn.compact
  def __call__(self, x):
    if self.wide:
      x = jnp.concatenate([x, x], -1)
      x = nn.Dense(self.size)(x)
    else:
      x = nn.Dense(self.size)(x)
    return x


class SameText(nn.Module):
  wide: bool = False
  size: int = 3
  @nn.compact
  def __call__(self, x):
    if self.wide:
      size = self.size * 2
      x = nn.Dense(size)(x)
    else:
      size = self.size
      x = nn.Dense(size)(x)
    return nn.LayerNorm()(x)


CASES: list[Any] = [
    ('SameNorm', dict(norm_input=True), [(2, 4)], dict(train=True)),
    ('SameNorm', dict(norm_input=False), [(2, 4)], dict(train=True)),
    ('SameNorm', dict(norm_input=False), [(2, 4)], dict(train=False)),
    ('SameOfUnlikeWidths', dict(wide=True), [(2, 4)], dict()),
    ('SameOfUnlikeWidths', dict(wide=False), [(2, 4)], dict()),
    ('SameText', dict(wide=True), [(2, 4)], dict()),
    ('SameText', dict(wide=False), [(2, 4)], dict()),
]
