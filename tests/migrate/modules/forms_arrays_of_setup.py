"""Lists, tuples and dicts of arrays that setup keeps; `CASES` as in forms_basic."""

import jax.numpy as jnp
import numpy as np
from flax import linen as nn


class Masked(nn.Module):
  steps: int = 2

  def setup(self):
    self.masks = [np.arange(4) % 2 == i for i in range(self.steps)]
    self.dense = nn.Dense(4)

  def __call__(self, x):
    for mask in self.masks:
      x = self.dense(x * mask)
    return x


class Appended(nn.Module):
  steps: int = 3

  def setup(self):
    masks = []
    for i in range(self.steps):
      masks.append(jnp.arange(4) % 2 == i % 2)
    self.masks = masks
    self.dense = [nn.Dense(4) for _ in range(self.steps)]

  def __call__(self, x):
    for i in range(self.steps):
      x = x + self.dense[i](jnp.where(self.masks[i], x, 0.0))
    return x


class Grids(nn.Module):
  side: int = 3

  def setup(self):
    self.grid = np.meshgrid(np.arange(self.side), np.arange(self.side))
    self.tables = {"sin": jnp.sin(jnp.arange(4.0)), "cos": jnp.cos(jnp.arange(4.0))}
    self.low, self.high = (np.zeros(4), np.ones(4)), [np.full(4, 9.0)]
    self.dense = nn.Dense(4)

  def __call__(self, x):
    x = jnp.clip(self.dense(x), self.low[0], self.high[0])
    return x * self.tables["sin"] + self.tables["cos"] + self.grid[1].sum()


class Numbers(nn.Module):
  """Lists of numbers stay what they are: their values decide what is done."""

  rates: tuple = (0.0, 0.5)

  def setup(self):
    self.scales = [1.0 - rate for rate in self.rates]
    self.offsets = list(np.linspace(0.0, 1.0, len(self.rates)))
    self.dense = nn.Dense(4)

  def __call__(self, x):
    for scale, offset in zip(self.scales, self.offsets):
      if scale != 1.0:
        x = x * scale + offset
    return self.dense(x)


CASES = [
  ("Masked", {}, [(2, 4)], {}),
  ("Appended", {}, [(2, 4)], {}),
  ("Grids", {}, [(2, 4)], {}),
  ("Numbers", {}, [(2, 4)], {}),
]
