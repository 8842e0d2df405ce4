"""Parameters of `param_with_axes`, with shapes by name or behind guards, that only the call knows; `CASES` as in forms_basic."""

from typing import Any, Sequence
import jax
import jax.numpy as jnp
from flax import linen as nn
from flax.linen import partitioning

param_with_axes = partitioning.param_with_axes


def leaves(x):
  return jax.tree.leaves({'a': x, 'b': x * 2})


class Axes(nn.Module):
  features: int
  kernel_axes: Sequence[str] = ('embed', 'mlp')
  use_bias: bool = True
  @nn.compact
  def __call__(self, x):
    x = leaves(x)[0]
    shape = (x.shape[-1], self.features)
    kernel = param_with_axes('kernel', nn.initializers.lecun_normal(), shape, jnp.float32, axes=self.kernel_axes)
    if self.use_bias:
      bias = param_with_axes('bias', nn.initializers.zeros, (self.features,), axes=(self.kernel_axes[-1],))
      return x @ kernel + bias
    return x @ kernel


class Unnamed(nn.Module):
  @nn.compact
  def __call__(self, x):
    x = leaves(x)[1]
    return x * param_with_axes('scale', nn.initializers.ones, (x.shape[-1],), axes=None)


class Keyword(nn.Module):
  @nn.compact
  def __call__(self, x):
    x = leaves(x)[0]
    bias = self.param('bias', lambda key, shape: jax.random.normal(key, shape), shape=(1, x.shape[-1]))
    scale = self.param('scale', nn.initializers.ones, dtype=jnp.float32, shape=x.shape[1:])
    return x * scale + bias


class Stacked(nn.Module):
  @nn.compact
  def __call__(self, x):
    x = Axes(x.shape[-1])(x)
    return Axes(4, use_bias=False)(Keyword()(Unnamed()(x)))


class Guarded(nn.Module):
  features: int
  mask: Any = None
  @nn.compact
  def __call__(self, x):
    h = leaves(x)[0]
    shape = (h.shape[-1], self.features)
    if self.mask is not None and self.mask.shape != shape:
      message = f'{shape}'
      raise ValueError(message)
    if h.shape[0] == 9:
      raise ValueError
    w = self.param('w', nn.initializers.lecun_normal(), shape)
    return nn.Dense(4)(h @ w)


class GuardedBefore(nn.Module):
  @nn.compact
  def __call__(self, x, sigma):
    h = leaves(x)[0]
    if sigma.ndim != 1 or h.shape[0] != sigma.shape[0]:
      raise ValueError('one a row')
    if h.shape[-1] != 3:
      raise ValueError('three')
    elif h.shape[-2] == 7:
      raise ValueError('seven')
    with jax.named_scope('last'):
      return nn.Dense(4)(x) * sigma[:, None, None]


def started(x):
  key = jax.random.key(0)
  Guarded(4).init(key, x)
  GuardedBefore().init(key, x, x[:, 0, 0])
  return Stacked().init(key, x)


CASES: list[Any] = [
    ('Axes', dict(features=4), [(2, 5, 3)], dict()),
    ('Axes', dict(features=4, use_bias=False), [(2, 5, 3)], dict()),
    ('Unnamed', dict(), [(2, 5, 3)], dict()),
    ('Keyword', dict(), [(2, 5, 3)], dict()),
    ('Stacked', dict(), [(2, 5, 3)], dict()),
    ('Guarded', dict(features=4), [(2, 5, 3)], dict()),
    ('GuardedBefore', dict(), [(2, 5, 3), (2,)], dict()),
]
