"""Layers over any axes, as T5 writes them, and what contains them; `CASES` as in forms_basic."""
import dataclasses
import functools
import operator
from typing import Any, Callable, Iterable, Sequence, Tuple, Union

import jax.numpy as jnp
import numpy as np
from flax import linen as nn
from flax.linen import partitioning as nn_partitioning
from jax import lax

param_with_axes = nn_partitioning.param_with_axes
with_sharding_constraint = nn_partitioning.with_sharding_constraint


def _to_tuple(v):
  if isinstance(v, Iterable):
    return tuple(v)
  else:
    return (v,)


def _positive(axes, ndim):
  return tuple([a if a >= 0 else ndim + a for a in axes])


def _activation(f):
  if f == 'linear':
    return lambda x: x
  elif isinstance(f, str):
    return getattr(nn, f)
  else:
    return f


class AxesDense(nn.Module):
  features: Union[Iterable[int], int]
  axis: Union[Iterable[int], int] = -1
  dtype: Any = jnp.float32
  kernel_init: Callable = nn.initializers.lecun_normal()
  names: Tuple[str, ...] = ()

  @nn.compact
  def __call__(self, inputs):
    features = _to_tuple(self.features)
    axis = _to_tuple(self.axis)
    inputs = jnp.asarray(inputs, self.dtype)
    axis = _positive(axis, inputs.ndim)
    shape = tuple([inputs.shape[a] for a in axis]) + features
    flat = (np.prod([inputs.shape[a] for a in axis]), np.prod(features))
    kernel = param_with_axes('kernel', self.kernel_init, flat, jnp.float32, axes=self.names)
    kernel = jnp.asarray(kernel, self.dtype)
    kernel = jnp.reshape(kernel, shape)
    against = tuple(range(0, len(axis)))
    return lax.dot_general(inputs, kernel, ((axis, against), ((), ())))


class ScaledInit(nn.Module):
  heads: int = 2
  size: int = 4
  dtype: Any = jnp.float32
  kernel_init: Callable = nn.initializers.lecun_normal()
  @nn.compact
  def __call__(self, x):
    scaling = jnp.sqrt(self.size).astype(self.dtype)
    init = lambda *args: self.kernel_init(*args) / scaling
    return AxesDense((self.heads, self.size), kernel_init=init, names=('embed', 'mlp'), name='query')(x)


class Mlp(nn.Module):
  hidden: int = 8
  activations: Sequence[Union[str, Callable]] = ('relu',)
  rate: float = 0.1
  @nn.compact
  def __call__(self, inputs, deterministic: bool = False):
    activations = []
    for i, f in enumerate(self.activations):
      name = 'wi' if len(self.activations) == 1 else f'wi_{i}'
      x = AxesDense(self.hidden, names=('embed', 'mlp'), name=name)(inputs)
      x = _activation(f)(x)
      activations.append(x)
    x = functools.reduce(operator.mul, activations)
    x = nn.Dropout(rate=self.rate, broadcast_dims=(-2,))(x, deterministic=deterministic)
    x = with_sharding_constraint(x, ('batch', 'length', 'mlp'))
    return AxesDense(inputs.shape[-1], names=('mlp', 'embed'), name='wo')(x)


class Table(nn.Module):
  count: int
  features: int
  dtype: Any = jnp.float32
  table_init: Callable = nn.initializers.normal(1.0)
  one_hot: bool = False
  table: Any = dataclasses.field(init=False)
  def setup(self):
    self.table = param_with_axes('table', self.table_init, (self.count, self.features), jnp.float32, axes=('vocab', 'embed'))
  def __call__(self, inputs):
    if self.one_hot:
      iota = lax.iota(jnp.int32, self.count)
      one_hot = jnp.array(inputs[..., jnp.newaxis] == iota, dtype=self.dtype)
      return jnp.dot(one_hot, jnp.asarray(self.table, self.dtype))
    y = jnp.asarray(self.table, self.dtype)[inputs]
    return with_sharding_constraint(y, ('batch', 'length', 'embed'))
  def attend(self, query):
    return jnp.dot(query, jnp.asarray(self.table, self.dtype).T)


class Tables(nn.Module):
  @nn.compact
  def __call__(self, ids):
    table = Table(7, 5, one_hot=True, name='table')
    x = table(ids)
    x = Mlp(name='mlp')(x, deterministic=True)
    return table.attend(x)


class NamedInSetup(nn.Module):
  def setup(self):
    self.up = nn.Dense(6, name='wi')
    self.down = nn.Dense(3)

  def __call__(self, x):
    return self.down(nn.relu(self.up(x))) + self.up.features


CASES = [
    ('ScaledInit', {}, [(2, 5, 4)], {}),
    ('Mlp', {}, [(2, 5, 4)], {'deterministic': True}),
    ('Mlp', {'activations': ('gelu', 'linear')}, [(2, 5, 4)], {'deterministic': True}),
    ('Table', {'count': 7, 'features': 5}, [[[1, 2, 3]]], {}),
    ('Table', {'count': 7, 'features': 5, 'one_hot': True}, [[[1, 2, 3]]], {}),
    ('Tables', {}, [[[1, 2, 3]]], {}),
    ('NamedInSetup', {}, [(2, 4)], {}),
]
