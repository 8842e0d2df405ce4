"""Modules of lists that `map` calls, whose results are taken at once; `CASES` as in forms_basic."""

from collections.abc import Sequence

import jax.numpy as jnp
from flax import linen as nn


class Joined(nn.Module):
  widths: Sequence[int]
  @nn.compact
  def __call__(self, x):
    parts = []
    for width in self.widths:
      parts.append(nn.Dense(width))
    maps = tuple(map(lambda part: part(x), parts))
    return nn.LayerNorm()(jnp.concatenate(maps, axis=-1))


class Summed(nn.Module):
  count: int
  @nn.compact
  def __call__(self, x):
    parts = [nn.Dense(4) for _ in range(self.count)]
    return sum(map(lambda x: x(jnp.ones((2, 3))), parts)) + x.sum()


class InSetup(nn.Module):
  widths: Sequence[int]
  def setup(self):
    self.parts = [nn.Dense(width) for width in self.widths]
  def __call__(self, x):
    found = list(map(lambda part: nn.relu(part(x)), self.parts))
    return jnp.concatenate(found, -1)


CASES = [
    ("Joined", {"widths": (3, 5)}, [(2, 4)], {}),
    ("Summed", {"count": 2}, [(2, 4)], {}),
    ("InSetup", {"widths": (3, 5)}, [(2, 4)], {}),
]
