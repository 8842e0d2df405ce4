"""Numbers that a loop changes in place (`c //= 2`), and widths said in them; `CASES` as in forms_basic."""

import jax.numpy as jnp
from flax import linen as nn


class Grown(nn.Module):
  growth: int = 4

  @nn.compact
  def __call__(self, x):
    return jnp.concatenate([x, nn.Dense(self.growth)(x)], axis=-1)


class DenseNet(nn.Module):
  layers: tuple = (2, 3)
  growth: int = 4

  @nn.compact
  def __call__(self, x):
    c = self.growth * 2
    x = nn.Dense(c)(x)
    for i, n in enumerate(self.layers):
      for _ in range(n):
        x = Grown(self.growth)(x)
      c += n * self.growth
      if i < len(self.layers) - 1:
        x = nn.Dense(c // 2)(x)
        c //= 2
    return nn.Dense(3)(x)


class HalvedBehind(nn.Module):
  counts: tuple = (2, 3)

  @nn.compact
  def __call__(self, x):
    c = 4
    for n in self.counts:
      c += n * 4
      x = nn.Dense(c // 2)(x)
      c //= 2
    return nn.Dense(3)(x)


class DoubledBetween(nn.Module):
  counts: tuple = (2, 3)
  width: int = 4

  @nn.compact
  def __call__(self, x):
    c = self.width
    for n in self.counts:
      x = nn.Dense(c)(x)
      c *= 2
      if n > 2:
        x = nn.Dense(c)(x)
    return nn.Dense(c)(x)


class TwoNumbers(nn.Module):
  counts: tuple = (2, 3, 1)

  @nn.compact
  def __call__(self, x):
    wide, narrow = 30, 2
    for n in self.counts:
      y = nn.Dense(wide)(x)
      wide -= narrow
      narrow += n
      x = jnp.concatenate([y, nn.Dense(narrow)(x)], -1)
    return nn.Dense(wide)(x)


CASES = [
  ("DenseNet", {}, [(2, 5)], {}),
  ("DenseNet", {"layers": (1, 2, 3), "growth": 3}, [(2, 5)], {}),
  ("HalvedBehind", {}, [(2, 5)], {}),
  ("DoubledBetween", {}, [(2, 5)], {}),
  ("DoubledBetween", {"counts": (3, 3, 1)}, [(2, 5)], {}),
  ("TwoNumbers", {}, [(2, 5)], {}),
]
