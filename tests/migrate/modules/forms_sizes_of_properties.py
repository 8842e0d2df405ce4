"""Sizes that a property or an attribute of the class says; `CASES` as in forms_basic."""

import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from flax import linen as nn


class OfAnItem(nn.Module):
  sizes: Sequence[int] = (5, 6)

  @property
  def width(self):
    return self.sizes[-1]

  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(nn.relu(nn.Dense(self.width)(x)))


class OfAnInput(OfAnItem):
  """Also what it multiplies."""

  @nn.compact
  def __call__(self, x):
    h = nn.Dense(self.width)(jnp.outer(x.sum(-1), jnp.arange(self.width)))
    return nn.Dense(3)(h.reshape(h.shape[0], -1))


class Chosen(nn.Module):
  wide: bool = False

  @property
  def width(self):
    if self.wide:
      return 7
    return 4

  def setup(self):
    self.first = nn.Dense(self.width)
    self.last = nn.Dense(2)

  def __call__(self, x):
    return self.last(self.first(x))


class Overridden(OfAnItem):
  @property
  def width(self):
    return self.sizes[0] * 2


class OfTheClass(nn.Module):
  WIDTHS = tuple(math.prod(pair) for pair in ((2, 2), (1, 3)))
  WIDTH = max(WIDTHS)

  @nn.compact
  def __call__(self, x):
    return nn.Dense(2)(nn.Dense(self.WIDTH)(x))


class OfOtherNames(nn.Module):
  """Names of the class body, of which its methods know nothing."""

  WIDTHS = tuple(math.prod(pair) for pair in ((2, 2), (1, 3)))
  DOUBLE = len(WIDTHS) * 2

  @nn.compact
  def __call__(self, x):
    return nn.Dense(2)(nn.Dense(self.DOUBLE)(x))


class Widest(nn.Module):
  sizes: Any

  @nn.compact
  def __call__(self, x):
    h = nn.Dense(min(self.sizes))(nn.Dense(max(self.sizes))(x))
    return nn.Dense(sum(self.sizes))(h)


class Around(nn.Module):
  sizes: Sequence[int] = (5, 6)

  @nn.compact
  def __call__(self, x):
    return nn.Dense(2)(OfAnItem(self.sizes)(x)) + nn.Dense(2)(Overridden(self.sizes)(x)) + nn.Dense(2)(OfTheClass()(x))


CASES: list[Any] = [
    ('OfAnItem', {}, [(3, 4)], {}),
    ('OfAnItem', {'sizes': (2, 7)}, [(3, 4)], {}),
    ('OfAnInput', {}, [(3, 4)], {}),
    ('Chosen', {}, [(3, 4)], {}),
    ('Chosen', {'wide': True}, [(3, 4)], {}),
    ('Overridden', {}, [(3, 4)], {}),
    ('OfTheClass', {}, [(3, 4)], {}),
    ('OfOtherNames', {}, [(3, 4)], {}),
    ('Widest', {'sizes': (3, 2)}, [(3, 4)], {}),
    ('Around', {}, [(3, 4)], {}),
]
