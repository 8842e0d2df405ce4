"""Variables whose first values only the call knows; `CASES` as in forms_basic."""

from typing import Any
import jax
import jax.numpy as jnp
from flax import linen as nn


def leaves(x):
  return jax.tree.leaves({'a': x, 'b': x * 2})


class Mean(nn.Module):
  decay: float = 0.9
  @nn.compact
  def __call__(self, x, train: bool = False):
    h = leaves(x)[0]
    mean = self.variable('batch_stats', 'mean', lambda s: jnp.zeros(s, jnp.float32), (h.shape[-1],))
    count = self.variable('batch_stats', 'count', jnp.ones, h.shape[-1:], dtype=jnp.int32)
    if train and not self.is_initializing():
      mean.value = self.decay * mean.value + (1 - self.decay) * h.mean((0, 1))
      count.value += 1
    return h - mean.value * count.value


class Kept(nn.Module):
  @nn.compact
  def __call__(self, x):
    x = leaves(x)[1]
    x = leaves(x)[0]
    first = self.variable('stats', 'first', lambda: jnp.full(x.shape[1:], 2.0))
    def start(shape):
      return 3.0 * jnp.ones(shape)
    second = self.variable('stats', 'second', start, x.shape[1:])
    y = x + first.value
    return y * second.value


class Chosen(nn.Module):
  per_channel: bool = True
  @nn.compact
  def __call__(self, x):
    h = leaves(x)[0]
    if self.per_channel:
      shape = (1,) * (h.ndim - 1) + (h.shape[-1],)
    else:
      shape = (1,) * len(h.shape)
    bound = self.variable('bounds', 'bound', jnp.ones, shape)
    known = self.has_variable('bounds', 'bound')
    if known:
      h = h * bound.value
    return nn.Dense(3)(h)


class Around(nn.Module):
  @nn.compact
  def __call__(self, x, train: bool = False):
    x = Mean()(x, train=train)
    x = nn.Dense(4)(Kept()(x))
    x = Mean(0.5)(x, train=train)
    return Chosen(False)(Chosen()(x))


def started(x):
  return Around().init(jax.random.key(0), x)


CASES: list[Any] = [
    ('Mean', dict(), [(2, 5, 3)], dict()),
    ('Mean', dict(), [(2, 5, 3)], dict(train=True)),
    ('Kept', dict(), [(2, 5, 3)], dict()),
    ('Chosen', dict(), [(2, 5, 3)], dict()),
    ('Chosen', dict(per_channel=False), [(2, 5, 3)], dict()),
    ('Around', dict(), [(2, 5, 3)], dict()),
    ('Around', dict(), [(2, 5, 3)], dict(train=True)),
]
