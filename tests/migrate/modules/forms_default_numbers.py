"""Objects of setup that fill in a number of their sizes when they lack it; `CASES` as in forms_basic."""

import math
from typing import Any

from flax import linen as nn


class Scaling:
  def __init__(self, scale=None):
    self.scale = scale

  def __call__(self, x):
    if self.scale is None:
      self.scale = 1 / math.sqrt(x.shape[-1])
    return x * self.scale


class Scaled(nn.Module):
  scale: Any = None

  def setup(self):
    self.d = nn.Dense(4)
    self.scaling = Scaling(self.scale)

  def __call__(self, x):
    return self.scaling(x) + self.d(x)


CASES: list[Any] = [
    ('Scaled', {}, [(3, 4)], {}),
    ('Scaled', {'scale': 0.5}, [(3, 4)], {}),
]
