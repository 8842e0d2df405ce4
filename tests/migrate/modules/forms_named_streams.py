"""Random streams that a field names, and shapes that `lax.select` keeps; `CASES` as in forms_basic."""

from collections.abc import Sequence

import flax.linen as nn
import jax.numpy as jnp
from jax import lax, random


class Drop(nn.Module):
  rate: float | None = None
  broadcast_dims: Sequence[int] = ()
  rng_collection: str = 'dropout'

  @nn.compact
  def __call__(self, inputs, deterministic=None, rate=None, rng=None):
    if rate is None:
      rate = self.rate
    if deterministic:
      return inputs
    keep = 1.0 - rate
    if rng is None:
      rng = self.make_rng(self.rng_collection)
    shape = list(inputs.shape)
    for dim in self.broadcast_dims:
      shape[dim] = 1
    mask = jnp.broadcast_to(random.bernoulli(rng, p=keep, shape=shape), inputs.shape)
    return lax.select(mask, inputs / keep, jnp.zeros_like(inputs))


class TwoStreams(nn.Module):
  @nn.compact
  def __call__(self, x, train=False):
    x = nn.Dense(4)(x)
    x = Drop(rate=0.5, broadcast_dims=(0,))(x, deterministic=not train)
    x = Drop(rate=0.2, rng_collection='noise')(x, deterministic=not train)
    return nn.Dense(4)(x)


class StreamInSetup(nn.Module):
  stream: str = 'noise'

  def setup(self):
    self.dense = nn.Dense(4)

  def __call__(self, x, train=False):
    x = self.dense(x)
    return x + random.normal(self.make_rng(self.stream), x.shape) if train else x


class DrawnByMethod(nn.Module):
  """Which method draws the noise is a field's choice; the method is handed out before it is called."""
  kind: str = 'normal'

  def noise(self):
    if self.kind == 'normal':
      return self._normal
    if self.kind == 'uniform':
      return self._uniform
    return {'none': self._none}[self.kind]

  def _none(self, shape):
    return jnp.zeros(shape)

  def _normal(self, shape):
    return random.normal(self.make_rng('noise'), shape) * 0.1

  def _uniform(self, shape):
    low = self._none(shape)
    return low + random.uniform(self.make_rng('noise'), shape)

  @nn.compact
  def __call__(self, x, train=False):
    x = nn.Dense(4)(x)
    if train:
      x = x + self.noise()(x.shape)
    return nn.Dense(4)(x)


CASES = [
    ('TwoStreams', {}, [(2, 3)], {}),
    ('StreamInSetup', {}, [(2, 3)], {}),
    ('StreamInSetup', {'stream': 'other'}, [(2, 3)], {}),
    ('DrawnByMethod', {}, [(2, 3)], {}),
    ('DrawnByMethod', {'kind': 'none'}, [(2, 3)], {'train': True}),
]
