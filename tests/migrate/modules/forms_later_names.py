"""Modules whose sizes a call finds, under two names, in two lists, and within one another; `CASES` as in forms_basic."""

from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn


def widened(x):
  return jnp.concatenate(jax.tree.leaves({'a': x, 'b': x * 2}), -1)


class TwoNames(nn.Module):
  tied: bool = True

  def setup(self):
    self.first = nn.Dense(4)
    self.then = self.first if self.tied else nn.Dense(4)

  def __call__(self, x):
    return self.then(widened(self.first(widened(x))))


class InList(nn.Module):
  def setup(self):
    self.d = nn.Dense(4)
    self.layers = [self.d, nn.Dense(4)]

  def __call__(self, x):
    return self.d(widened(x)) + self.layers[0](widened(x)) * self.layers[1](widened(x))


class Within(nn.Module):
  @nn.compact
  def __call__(self, x):
    return TwoNames()(InList()(widened(x)))


class AroundThem(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Within()(widened(Within()(x)))


# Code outside of modules that names them: it could not say a width.
MODELS = [TwoNames, InList, Within, AroundThem]

CASES: list[Any] = [
    ('TwoNames', {}, [(3, 4)], {}),
    ('InList', {}, [(3, 4)], {}),
    ('AroundThem', {}, [(3, 4)], {}),
    ('TwoNames', {'tied': False}, [(3, 4)], {}),
]
