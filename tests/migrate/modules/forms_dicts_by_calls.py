"""Dicts of modules that setup makes by calling `dict`, again, or in loops; `CASES` as in forms_basic."""

from typing import Any

import jax.numpy as jnp
from flax import linen as nn


class OfLists(nn.Module):
  def setup(self):
    self.tables = dict(a=[nn.Embed(7, 4)], b=(nn.Embed(7, 4),), c=dict(d=nn.Embed(7, 4)))

  def __call__(self, x):
    return self.tables['a'][0](x) + self.tables['b'][0](x) * self.tables['c']['d'](x)


class Again(nn.Module):
  def setup(self):
    self.tables = {}
    self.tables = dict(self.tables, a=[nn.Embed(7, 4)])

  def __call__(self, x):
    return self.tables['a'][0](x)


class InLoops(nn.Module):
  orders: int = 2

  def setup(self):
    tables = {}
    for order in range(self.orders):
      tables[order] = []
      for i in range(2):
        tables[order].append(nn.Embed(7, 4, name=f'{order}_{i}'))
    self.tables = tables

  def __call__(self, x):
    return sum(table(x) for listed in self.tables.values() for table in listed)


CASES: list[Any] = [
    ('OfLists', {}, [jnp.arange(3)], {}),
    ('Again', {}, [jnp.arange(3)], {}),
    ('InLoops', {}, [jnp.arange(3)], {}),
]
