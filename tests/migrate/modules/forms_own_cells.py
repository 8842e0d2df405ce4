"""Recurrent cells of one's own, and modules in functions under jax.vmap; `CASES` as in forms_basic."""

import functools
from collections.abc import Callable, Sequence
from typing import Any, Dict, Optional

import jax
import jax.numpy as jnp
from flax import linen as nn
from flax.linen import partitioning as nn_partitioning


class CellOfMyCell(nn.RNNCellBase):
  features: int
  @nn.compact
  def __call__(self, carry, x):
    h = jnp.tanh(nn.Dense(self.features, name='i')(x) + nn.Dense(self.features, use_bias=False, name='h')(carry))
    return h, h
  @nn.nowrap
  def initialize_carry(self, rng, input_shape):
    return jnp.zeros((*input_shape[:-1], self.features))
  @property
  def num_feature_axes(self):
    return 1
class MyCell(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.RNN(CellOfMyCell(4))(x)


class CellOfMyCellBi(nn.RNNCellBase):
  features: int
  @nn.compact
  def __call__(self, carry, x):
    h = jnp.tanh(nn.Dense(self.features, name='i')(x) + nn.Dense(self.features, use_bias=False, name='h')(carry))
    return h, h
  @nn.nowrap
  def initialize_carry(self, rng, input_shape):
    return jnp.zeros((*input_shape[:-1], self.features))
  @property
  def num_feature_axes(self):
    return 1
class MyCellBi(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Bidirectional(nn.RNN(CellOfMyCellBi(4)), nn.RNN(CellOfMyCellBi(4)))(x)


class CellOfMyCellScan(nn.RNNCellBase):
  features: int
  @nn.compact
  def __call__(self, carry, x):
    h = jnp.tanh(nn.Dense(self.features)(x) + nn.Dense(self.features)(carry))
    return h, h
  @nn.nowrap
  def initialize_carry(self, rng, input_shape):
    return jnp.zeros((*input_shape[:-1], self.features))
  @property
  def num_feature_axes(self):
    return 1
class MyCellScan(nn.Module):
  @nn.compact
  def __call__(self, x):
    cell = CellOfMyCellScan(4)
    c = cell.initialize_carry(jax.random.key(0), x[:, 0].shape)
    return nn.scan(lambda m, c, x: m(c, x), variable_broadcast='params', split_rngs={'params': False}, in_axes=1, out_axes=1)(cell, c, x)


class CellOfRandCell(nn.RNNCellBase):
  features: int
  @nn.compact
  def __call__(self, carry, x):
    h = jnp.tanh(nn.Dense(self.features)(x) + nn.Dense(self.features)(carry))
    return h, h
  @nn.nowrap
  def initialize_carry(self, rng, input_shape):
    """Random."""
    mem_shape = (*input_shape[:-1], self.features)
    return jax.random.normal(rng, mem_shape)
  @property
  def num_feature_axes(self) -> int:
    return 1
class RandCell(nn.Module):
  @nn.compact
  def __call__(self, x):
    cell = CellOfRandCell(4)
    c = cell.initialize_carry(jax.random.key(0), x[:, 0].shape)
    return nn.RNN(cell)(x, initial_carry=c)


class JaxVmapSub(nn.Module):
  def setup(self):
    self.d = nn.Dense(4)
  def __call__(self, x):
    return jax.vmap(lambda y: self.d(y))(x)


class JaxVmapSub2(nn.Module):
  def setup(self):
    self.d = nn.Dense(4)
  def __call__(self, x):
    return jax.vmap(self.d)(x)


class JaxVmapMake2(nn.Module):
  @nn.compact
  def __call__(self, x):
    return jax.vmap(nn.Dense(4))(x)


CASES: list[Any] = [
    ('MyCell', dict(), [(2,5,3)], dict()),
    ('MyCellBi', dict(), [(2,5,3)], dict()),
    ('MyCellScan', dict(), [(2,5,3)], dict()),
    ('RandCell', dict(), [(2,5,3)], dict()),
    ('JaxVmapSub', dict(), [(3,2,4)], dict()),
    ('JaxVmapSub2', dict(), [(3,2,4)], dict()),
    ('JaxVmapMake2', dict(), [(3,2,4)], dict()),
]
