"""Functions looked up by a name: in a table, by a helper, in setup; and a scan over a field's module of several classes."""

from typing import Any, Sequence

import jax
import jax.numpy as jnp
from flax import linen as nn

ACTS = {'relu': nn.relu, 'tanh': jnp.tanh}


class FromSetup(nn.Module):
  sizes: Sequence[int]
  kind: str = 'relu'

  def setup(self):
    self.function = by_name(self.kind)

  @nn.compact
  def __call__(self, x):
    for size in self.sizes:
      x = self.function(nn.Dense(size)(x))
    return x


class NamedInSetup(nn.Module):
  kind: str = 'relu'

  def setup(self):
    self.activation = getattr(jax.nn, self.kind)
    self.dense = nn.Dense(3)
    self.head = nn.Dense(2)

  def __call__(self, x):
    return self.head(self.activation(self.dense(x)))


class FromTables(nn.Module):
  kind: str = 'relu'

  @nn.compact
  def __call__(self, x):
    x = ACTS[self.kind](nn.Dense(3)(x))
    x = {'relu': nn.relu, 'tanh': lambda v: jnp.tanh(v) * 2}[self.kind](nn.Dense(4)(x))
    x = ACTS.get(self.kind)(nn.Dense(3)(x))
    return nn.Dense(2)(x)


class FromHelper(nn.Module):
  kind: str = 'relu'

  @nn.compact
  def __call__(self, x):
    x = either(self.kind)(nn.Dense(3)(x))
    return nn.Dense(2)(x)


class Widened(nn.Module):
  """Every function of the table gives the same width, which is not the input's."""
  kind: str = 'pairs'

  @nn.compact
  def __call__(self, x):
    table = {
        'pairs': lambda v: jnp.concatenate([v, -v], axis=-1),
        'squares': lambda v: jnp.concatenate([v, v**2], axis=-1),
    }
    return nn.Dense(2)(table[self.kind](nn.Dense(3)(x)))


def either(name):
  if name == 'relu':
    return lambda x: jnp.maximum(x, 0)
  return lambda x: x * 2


def by_name(name):
  functions = {'relu': nn.relu, 'scaled': lambda x: x / (1 + jnp.sum(x**2, axis=-1, keepdims=True))}
  return functions[name]


class Reset(nn.Module):
  cell: nn.RNNCellBase

  @nn.compact
  def __call__(self, carry, x):
    def step(cell, carry, x):
      return cell(jax.tree.map(lambda c: c * 0.5, carry), x)
    scan = nn.scan(step, variable_broadcast='params', split_rngs={'params': False}, in_axes=0, out_axes=0)
    return scan(self.cell, carry, x)


class OfTwoCells(nn.Module):
  n: int

  @nn.compact
  def __call__(self, c, x):
    x = nn.Dense(4)(x)
    h, _ = Reset(nn.GRUCell(self.n))(c, x)
    (_, g), _ = Reset(nn.OptimizedLSTMCell(self.n))((c, h), x)
    return h, g


STARTS = {'relu': nn.initializers.ones, 'tanh': nn.initializers.constant(0.5)}


def both(name):
  if name in ACTS:
    return ACTS[name], STARTS[name]
  raise ValueError(name)


class TwoAtOnce(nn.Module):
  """A helper gives the function and the initializer, which a field may replace."""

  sizes: Sequence[int] = (3, 4)
  kind: str = 'relu'
  std: Any = None

  @nn.compact
  def __call__(self, x):
    function, start = both(self.kind)
    if self.std is not None:
      kernel_init = nn.initializers.constant(self.std)
    else:
      kernel_init = start
    for size in self.sizes:
      x = function(nn.Dense(size, kernel_init=kernel_init)(x))
    return x


CASES = [
    ('TwoAtOnce', {'kind': 'tanh'}, [(2, 5)], {}),
    ('TwoAtOnce', {'std': 0.25}, [(2, 5)], {}),
    ('FromSetup', {'sizes': (4, 3), 'kind': 'scaled'}, [(2, 5)], {}),
    ('NamedInSetup', {'kind': 'tanh'}, [(2, 5)], {}),
    ('FromTables', {'kind': 'tanh'}, [(2, 5)], {}),
    ('FromTables', {}, [(2, 5)], {}),
    ('FromHelper', {'kind': 'other'}, [(2, 5)], {}),
    ('Widened', {'kind': 'squares'}, [(2, 5)], {}),
    ('OfTwoCells', {'n': 3}, [(2, 3), (6, 2, 5)], {}),
]
