"""Lists of modules that are turned, taken apart or copied, where the sizes still follow; lists that two loops make."""

from collections.abc import Sequence
from typing import Any

from flax import linen as nn


class Turned(nn.Module):
  @nn.compact
  def __call__(self, x):
    layers = [nn.Dense(3), nn.Dense(5)]
    layers.reverse()
    for layer in layers:
      x = layer(x)
    return x


class Popped(nn.Module):
  @nn.compact
  def __call__(self, x):
    layers = [nn.Dense(3), nn.Dense(5), nn.Dense(7)]
    x = layers.pop()(x)
    x = layers.pop(0)(x)
    for layer in layers:
      x = layer(x)
    return x


class CopyTurned(nn.Module):
  sizes: Sequence[int] = (3, 5, 7)
  @nn.compact
  def __call__(self, x):
    layers = [nn.Dense(f) for f in self.sizes]
    others = list(layers)
    others.reverse()
    for layer in layers:
      x = layer(x)
    return x


class Named(nn.Module):
  count: int = 3
  @nn.compact
  def __call__(self, x):
    heads = [nn.Dense(4, name=f"head_{i}") for i in range(self.count)]
    body = [nn.Dense(5) for _ in range(self.count)]
    for head, layer in zip(heads, body):
      x = head(layer(x))
      x = nn.LayerNorm()(x)
    return nn.LayerNorm()(x)


CASES: list[Any] = [(n, {}, [(2, 4)], {}) for n in ("Turned", "Popped", "CopyTurned", "Named")]
