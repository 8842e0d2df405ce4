"""Layers whose flags the call knows, appended to lists that an nn.Sequential goes through; `CASES` as in forms_basic."""
from typing import Sequence
import flax.linen as nn

class Normed(nn.Module):
  sizes: Sequence[int] = (4, 3)
  @nn.compact
  def __call__(self, x, train=False):
    layers = []
    for size in self.sizes:
      layers.append(nn.Dense(size))
      layers.append(nn.BatchNorm(use_running_average=not train))
      layers.append(nn.relu)
    return nn.Sequential(layers)(x)

class Dropped(nn.Module):
  sizes: Sequence[int] = (4, 6, 3)
  rate: float = 0.1
  @nn.compact
  def __call__(self, x, train=False):
    layers = []
    for i, size in enumerate(self.sizes):
      layers.append(nn.Dense(size))
      if i < len(self.sizes) - 1:
        layers.append(nn.relu)
        layers.append(nn.Dropout(self.rate, deterministic=not train))
    return nn.Sequential(layers)(x)

class Extended(nn.Module):
  normed: bool = True
  @nn.compact
  def __call__(self, x, train=False):
    layers = [nn.Dense(5)]
    if self.normed:
      layers += [nn.BatchNorm(use_running_average=not train), nn.relu]
    layers.append(nn.Dense(3))
    return nn.Sequential(layers)(x)


class Looped(nn.Module):  # no Sequential: the call gives the flag
  count: int = 2
  @nn.compact
  def __call__(self, x, train=False):
    layers = []
    for _ in range(self.count):
      layers.append(nn.Dense(4))
      layers.append(nn.BatchNorm(use_running_average=not train))
    for layer in layers:
      x = layer(x)
    return x

CASES = [
  ('Normed', {}, [(2, 4)], {}),
  ('Normed', {}, [(2, 4)], {'train': True}),
  ('Dropped', {}, [(2, 4)], {}),
  ('Extended', {}, [(2, 4)], {'train': True}),
  ('Extended', {'normed': False}, [(2, 4)], {}),
  ('Looped', {}, [(2, 4)], {'train': True}),
]
