"""What the setup of a submodule computes, read by the setup around it; variables of two ways; `CASES` as in forms_basic."""

from typing import Any
import jax
import jax.numpy as jnp
from flax import linen as nn


class Stats(nn.Module):
  data_shape: Any
  shared: Any = (0,)
  def setup(self):
    shape = list(self.data_shape)
    for axis in self.shared:
      shape[axis] = 1
    self.stats_shape = shape
    self.seen = self.variable('stats', 'seen', lambda: jnp.full(self.stats_shape, 2.0))
  def __call__(self, x):
    self.seen.value = self.seen.value + x.mean()
    return self.seen.value


class Scaled(nn.Module):
  data_shape: Any
  shared: Any = (0,)
  def setup(self):
    self._stats = Stats(self.data_shape, self.shared)
    self._scale = self.variable('quant', 'scale', jnp.zeros, self._stats.stats_shape, jnp.float32)
    self.gain = self.param('gain', nn.initializers.normal(), self._stats.stats_shape)
    self.bias = self.param('bias', nn.initializers.ones, (self._stats.stats_shape[-1], 2))
  def __call__(self, x):
    self._scale.value = self._scale.value + 1
    return x * self._scale.value * self.gain + self._stats(x) + self.bias.sum(-1)


class Unread(nn.Module):
  data_shape: Any
  def setup(self):
    stats = Stats(self.data_shape)
    self.held = stats
    self.w = self.param('w', nn.initializers.normal(), stats.stats_shape)
  def __call__(self, x):
    return x + self.w


class Ways(nn.Module):
  width: int
  kept: Any = 'all'
  def setup(self):
    if self.kept == 'all':
      self.last = self.variable('cells', 'last', jnp.zeros, (self.width,), jnp.float32)
    elif self.kept == 'one':
      self.last = self.variable('cells', 'last', jnp.full, (1,), 2.0)
    else:
      self.last = self.variable('cells', 'last', lambda: None)
  def __call__(self, x):
    if self.kept:
      old = self.last.value
      self.last.value = old + x.mean(0)[: old.shape[0]]
      self.last.value += 1
      x = x + self.last.value
    return x


class Inside(nn.Module):
  width: int
  kept: Any = True
  active: Any = 'yes'
  def setup(self):
    if self.active is not None:
      if self.kept:
        self.last = self.variable('cells', 'last', jnp.zeros, (self.width,), jnp.float32)
      else:
        self.last = self.variable('cells', 'last', lambda: None)
  def __call__(self, x):
    if self.active is not None and self.kept:
      self.last.value = x[0].astype(self.last.value.dtype)
    return x * 2


def started(x):
  key = jax.random.key(0)
  Unread((3, 2)).init(key, x)
  return Scaled((3, 2)).init(key, x), Ways(2).init(key, x), Inside(2).init(key, x)


CASES: list[Any] = [
    ('Scaled', dict(data_shape=(4, 3)), [(4, 3)], dict()),
    ('Ways', dict(width=3), [(4, 3)], dict()),
    ('Inside', dict(width=3), [(4, 3)], dict()),
    ('Scaled', dict(data_shape=(4, 3), shared=(0, 1)), [(4, 3)], dict()),
    ('Unread', dict(data_shape=(4, 3)), [(4, 3)], dict()),
    ('Ways', dict(width=3, kept='one'), [(4, 3)], dict()),
    ('Inside', dict(width=3, active=None), [(4, 3)], dict()),
]
