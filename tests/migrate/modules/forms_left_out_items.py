"""Lists of `setup` whose last items a counted loop leaves out: called behind it, or not made."""

from collections.abc import Sequence

import jax.numpy as jnp
from flax import linen as nn


class LastBehindCount(nn.Module):
  n: int = 3
  width: int = 5

  def setup(self):
    self.layers = [nn.Dense(self.width) for _ in range(self.n)]

  def __call__(self, x):
    for i in range(self.n - 1):
      x = nn.relu(self.layers[i](x))
    return self.layers[-1](x)


class LastByItsNumber(nn.Module):
  widths: Sequence[int] = (5, 7, 3)

  def setup(self):
    layers = []
    for width in self.widths:
      layers.append(nn.Dense(width))
    self.layers = layers
    self.head = nn.Dense(2)

  def __call__(self, x):
    for i in range(len(self.layers) - 1):
      x = nn.relu(self.layers[i](x))
    return self.head(self.layers[len(self.layers) - 1](x))


class NormsBetween(nn.Module):
  widths: Sequence[int] = (5, 7, 3)

  def setup(self):
    self.layers = [nn.Dense(width) for width in self.widths]
    self.norms = [nn.LayerNorm() for _ in self.widths]

  def __call__(self, x):
    for i, layer in enumerate(self.layers[:-1]):
      x = nn.tanh(self.norms[i](layer(x)))
    return self.layers[-1](x)


class NormsOfOneWidth(nn.Module):
  n: int = 3

  def setup(self):
    self.stem = nn.Dense(4)
    self.layers = [nn.Dense(4) for _ in range(self.n)]
    self.norms = [nn.LayerNorm() for _ in range(self.n)]

  def __call__(self, x):
    x = self.stem(x)
    n = self.n
    for i in range(n - 1):
      layer = self.layers[i]
      x = x + nn.gelu(self.norms[i](layer(x)))
    return self.layers[-1](x)


class ScalesBetween(nn.Module):
  n: int = 3
  scaled: bool = True

  def setup(self):
    self.stem = nn.Dense(4)
    self.layers = [nn.Dense(4, use_bias=False) for k in range(self.n + 1)]
    self.gates = [nn.Dense(4) for k in range(self.n + 1)]

  def __call__(self, x):
    x = self.stem(x)
    for k in range(self.n):
      y = self.layers[k](x)
      if self.scaled:
        y = y * self.gates[k](x)
      x = x + y
    return self.layers[self.n](x)


class TwoLeftOut(nn.Module):
  n: int = 4

  def setup(self):
    self.stem = nn.Dense(4)
    self.layers = [nn.Dense(4) for _ in range(self.n)]
    self.mixers = [nn.Dense(4) for _ in range(self.n)]

  def __call__(self, x):
    x = self.stem(x)
    for i in range(self.n - 2):
      x = x + self.mixers[i](x)
    for layer in self.layers:
      x = layer(x)
    return x


class LastNeverCalled(nn.Module):
  n: int = 3
  used: bool = True

  def setup(self):
    self.stem = nn.Dense(4)
    self.layers = [nn.Dense(4) for _ in range(self.n)]

  def __call__(self, x):
    x = self.stem(x)
    for i in range(self.n - 1):
      if self.used:
        x = self.layers[i](x)
    return x


class OneNormLess(nn.Module):
  n: int = 3

  def setup(self):
    self.layers = [nn.Dense(4) for _ in range(self.n)]
    self.norms = [nn.LayerNorm() for _ in range(self.n - 1)]

  def __call__(self, x):
    for layer, norm in zip(self.layers[:-1], self.norms):
      x = nn.relu(norm(layer(x)))
    return self.layers[-1](x)


class WholeElsewhere(nn.Module):
  n: int = 3

  def setup(self):
    self.stem = nn.Dense(4)
    self.layers = [nn.Dense(4) for _ in range(self.n)]

  def __call__(self, x, long: bool = True):
    x = self.stem(x)
    for i in range(self.n - 1):
      x = self.layers[i](x)
    for i in range(self.n):
      x = jnp.tanh(self.layers[i](x))
    return x


class GivenCount(nn.Module):
  n: int = 3

  @nn.compact
  def __call__(self, x):
    body = LastBehindCount(self.n, 4)
    return NormsBetween((4,) * 2)(body(x))


CASES = [
    ("LastBehindCount", {}, [(2, 4)], {}),
    ("LastBehindCount", {"n": 1}, [(2, 4)], {}),
    ("LastByItsNumber", {}, [(2, 4)], {}),
    ("LastByItsNumber", {"widths": (6,)}, [(2, 4)], {}),
    ("NormsBetween", {}, [(2, 4)], {}),
    ("NormsBetween", {"widths": (6,)}, [(2, 4)], {}),
    ("NormsOfOneWidth", {}, [(2, 4)], {}),
    ("NormsOfOneWidth", {"n": 1}, [(2, 4)], {}),
    ("ScalesBetween", {}, [(2, 4)], {}),
    ("ScalesBetween", {"scaled": False}, [(2, 4)], {}),
    ("TwoLeftOut", {}, [(2, 4)], {}),
    ("LastNeverCalled", {}, [(2, 4)], {}),
    ("LastNeverCalled", {"n": 1}, [(2, 4)], {}),
    ("LastNeverCalled", {"used": False}, [(2, 4)], {}),
    ("OneNormLess", {}, [(2, 4)], {}),
    ("WholeElsewhere", {}, [(2, 4)], {}),
    ("GivenCount", {}, [(2, 4)], {}),
]
