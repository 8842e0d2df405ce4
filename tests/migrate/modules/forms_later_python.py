"""Sizes that Python changes behind the analysis' back, found by a call on shapes; `CASES` as in forms_basic."""

from typing import Any

import jax.numpy as jnp
from flax import linen as nn


class WhileLoop(nn.Module):
  @nn.compact
  def __call__(self, x, train: bool = True):
    found = [x]
    while len(found) < 3:
      found.append(x)
    return nn.Dense(2)(jnp.concatenate(found, -1))


class Four(nn.Dense):
  features: int = 4


class OfLayersSubclass(nn.Module):
  @nn.compact
  def __call__(self, x, train: bool = True):
    return Four()(x)


CASES: list[Any] = [
    ('WhileLoop', {}, [(3, 4)], {}),
    ('OfLayersSubclass', {}, [(3, 4)], {}),
]
