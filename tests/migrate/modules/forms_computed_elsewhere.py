"""First values that functions, methods, fields and tables compute with jax, in calls that tell shapes; `CASES` as in forms_basic."""

import functools
from typing import Callable

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn


def leaves(x):
  return jax.tree.leaves({'a': x, 'b': x * 2})


@jax.jit
def jitted(x):
  return x + 1

ramp = lambda n: jnp.arange(n) * 1.0
half = functools.partial(jnp.linspace, 0., 1.)
TABLE = {'a': jnp.arange, 'b': ramp}


class Maker:
  def __init__(self, k):
    self.k = k
  def __call__(self, n):
    return jnp.arange(n) * self.k


class ByMethod(nn.Module):
  def grid(self, n):
    return jnp.linspace(0., 1., n)
  @nn.compact
  def __call__(self, x):
    h = leaves(x)[0]
    g = self.grid(h.shape[-1])
    return h * self.param('w', lambda k: g * 2)


class ByLambda(nn.Module):
  @nn.compact
  def __call__(self, x):
    h = leaves(x)[0]
    g = ramp(h.shape[-1])
    return h * self.param('w', lambda k: g * 2)


class ByPartial(nn.Module):
  @nn.compact
  def __call__(self, x):
    h = leaves(x)[0]
    g = half(h.shape[-1])
    return h * self.param('w', lambda k: g * 2)


class ByTable(nn.Module):
  kind: str = 'b'
  @nn.compact
  def __call__(self, x):
    h = leaves(x)[0]
    g = TABLE[self.kind](h.shape[-1])
    return h * self.param('w', lambda k: g * 2)


class ByField(nn.Module):
  make: Callable = jnp.arange
  @nn.compact
  def __call__(self, x):
    h = leaves(x)[0]
    g = self.make(h.shape[-1])
    return h * self.param('w', lambda k: g * 2.0)


class ByInner(nn.Module):
  @nn.compact
  def __call__(self, x):
    h = leaves(x)[0]
    def inner(n):
      return jnp.arange(n) * 1.0
    g = inner(h.shape[-1])
    return h * self.param('w', lambda k: g * 2)


class ByInnerLambda(nn.Module):
  @nn.compact
  def __call__(self, x):
    h = leaves(x)[0]
    inner = lambda n: jnp.arange(n) * 1.0
    g = inner(h.shape[-1])
    return h * self.param('w', lambda k: g * 2)


class ByObject(nn.Module):
  @nn.compact
  def __call__(self, x):
    h = leaves(x)[0]
    g = Maker(3.0)(h.shape[-1])
    return h * self.param('w', lambda k: g * 2)


class ByStatic(nn.Module):
  @staticmethod
  def grid(n):
    return jnp.linspace(0., 1., n)
  @nn.compact
  def __call__(self, x):
    h = leaves(x)[0]
    g = ByStatic.grid(h.shape[-1])
    return h * self.param('w', lambda k: g * 2)


class ByNumpy(nn.Module):
  @nn.compact
  def __call__(self, x):
    h = leaves(x)[0]
    g = np.linspace(0., 1., h.shape[-1]).astype(np.float32)
    g = g.reshape(-1)
    return h * self.param('w', lambda k: jnp.asarray(g))


class AnInitializer(nn.Module):
  @nn.compact
  def __call__(self, x):
    h = leaves(x)[0]
    g = self.variable('c', 'g', ramp, h.shape[-1])
    return h * self.param('w', nn.initializers.constant(ramp(h.shape[-1])), (h.shape[-1],)) + g.value


class Jitted(nn.Module):
  @nn.compact
  def __call__(self, x):
    h = leaves(x)[0]
    g = jitted(h.shape[-1])
    return h * self.param('w', lambda k: jnp.ones(h.shape[-1]) * g)


def fine(n):
  a = jnp.arange(n) + 1
  for i in range(len(a)):
    if a.shape[0] > i + 2:
      a = a.at[i].add(int(np.sqrt(n)))
  return a * 1.0


class BySizes(nn.Module):
  @nn.compact
  def __call__(self, x):
    h = leaves(x)[0]
    t = fine(h.shape[-1])
    return h * self.param('w', lambda k: t)


class BesideNames(nn.Module):
  @nn.compact
  def __call__(self, x):
    h = leaves(x)[0]
    for i in range(h.ndim):
      h = h * self.param(f'w{i}', lambda k, n: jnp.ones(n), h.shape[-1])
    g = ramp(h.shape[-1])
    return h + self.param('last', lambda k: g + jax.random.normal(k, g.shape))


CASES = [
    ('ByMethod', {}, [(2, 5)], {}),
    ('ByLambda', {}, [(2, 5)], {}),
    ('ByPartial', {}, [(2, 5)], {}),
    ('ByTable', {}, [(2, 5)], {}),
    ('ByField', {}, [(2, 5)], {}),
    ('ByInner', {}, [(2, 5)], {}),
    ('ByInnerLambda', {}, [(2, 5)], {}),
    ('ByObject', {}, [(2, 5)], {}),
    ('ByStatic', {}, [(2, 5)], {}),
    ('ByNumpy', {}, [(2, 5)], {}),
    ('AnInitializer', {}, [(2, 5)], {}),
    ('Jitted', {}, [(2, 5)], {}),
    ('BySizes', {}, [(2, 5)], {}),
    ('BesideNames', {}, [(2, 5)], {}),
]
