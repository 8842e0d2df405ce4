"""Lists of modules handed to other classes, one input size for each; mixins that read fields; `CASES` as in forms_basic."""

from typing import Sequence

import jax.numpy as jnp
from flax import linen as nn


class Chain(nn.Module):
  layers: Sequence[nn.Module]
  @nn.compact
  def __call__(self, x):
    for i, layer in enumerate(self.layers):
      x = nn.silu(layer(x))
    return x


class Widths(nn.Module):
  @nn.compact
  def __call__(self, x):
    x = Chain([nn.Dense(6), nn.Dense(5), nn.Dense(2)])(x)
    return nn.Dense(3)(x)


class SeveralKinds(nn.Module):
  @nn.compact
  def __call__(self, x):
    parts = [nn.Dense(4), nn.LayerNorm()]
    parts.append(nn.Dense(6, use_bias=False))
    x = Chain(layers=parts)(x)
    return nn.Dense(3)(x)


class WidthsOfAField(nn.Module):
  w: int = 5
  @nn.compact
  def __call__(self, x):
    return nn.Dense(2)(Chain([nn.Dense(self.w), nn.Dense(2 * self.w)])(x))


class Grow(nn.Module):
  layers: Sequence[nn.Module]
  @nn.compact
  def __call__(self, x):
    for layer in self.layers:
      x = jnp.concatenate([x, layer(x)], -1)
    return x


class Grown(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(2)(Grow([nn.Dense(3), nn.Dense(4)])(x))


class InSetup(nn.Module):
  def setup(self):
    self.chain = Chain([nn.Dense(9), nn.Dense(4)])
    self.out = nn.Dense(2)
  def __call__(self, x):
    return self.out(self.chain(x))


class Heads(nn.Module):
  heads: Sequence[nn.Module]
  def __call__(self, x):
    return [h(x) for h in self.heads]


class SideBySide(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Heads([nn.Dense(3), nn.Dense(4)])(x)


class Doubles:
  def double(self, x):
    return x * self.factor


class Activates(Doubles):
  def activate(self, x):
    return self.double(nn.silu(x)) * self.gain


class Gains(nn.Module):
  features: int
  gain: float = 1.5
  factor: float = 2.0


class Activated(Activates, Gains):
  @nn.compact
  def __call__(self, x):
    return self.activate(nn.Dense(self.features)(x))


class ActivatedTwice(Activated):
  features: int = 6
  @nn.compact
  def __call__(self, x):
    return self.activate(nn.Dense(self.features)(x)) - nn.Dense(self.features)(x)


CASES = [
    ("Widths", {}, [(2, 3)], {}),
    ("SeveralKinds", {}, [(2, 3)], {}),
    ("WidthsOfAField", {"w": 4}, [(2, 3)], {}),
    ("Grown", {}, [(2, 3)], {}),
    ("InSetup", {}, [(2, 3)], {}),
    ("SideBySide", {}, [(2, 3)], {}),
    ("Activated", {"features": 3}, [(2, 3)], {}),
    ("ActivatedTwice", {"gain": 3.0}, [(2, 3)], {}),
]
