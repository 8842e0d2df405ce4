"""Cached properties, which Linen computes for every call; `CASES` as in forms_basic."""

import functools
from functools import cached_property
from typing import Any

import jax.numpy as jnp
from flax import linen as nn


class Based(nn.Module):
  @functools.cached_property
  def table(self):
    return self.t * 2


class OfParameter(Based):
  def setup(self):
    self.t = self.param('t', nn.initializers.normal(1.0), (4,))

  def __call__(self, x):
    return x * self.table + self.table


class Function(nn.Module):
  def setup(self):
    self.e = nn.Dense(4)

  @cached_property
  def head(self):
    return lambda x: self.e(x)

  def __call__(self, x):
    return self.head(x)


class OfFields(nn.Module):
  n: int = 3

  @cached_property
  def scale(self):
    return self.n**0.5

  @cached_property
  def mask(self):
    return jnp.arange(4) < self.n

  @nn.compact
  def __call__(self, x):
    return nn.Dense(4)(x) * self.mask * self.scale


class OfMethods(nn.Module):
  """Methods that call one another."""

  n: int = 3

  def even(self, k):
    return 1.0 if k == 0 else self.odd(k - 1)

  def odd(self, k):
    return 0.5 if k == 0 else self.even(k - 1)

  @cached_property
  def scale(self):
    return self.even(self.n)

  @nn.compact
  def __call__(self, x):
    return nn.Dense(4)(x) * self.scale


CASES: list[Any] = [
    ('OfParameter', {}, [(3, 4)], {}),
    ('Function', {}, [(3, 4)], {}),
    ('OfFields', {}, [(3, 4)], {}),
    ('OfMethods', {}, [(3, 4)], {}),
]
