"""Functions that attributes and other modules keep and that read nothing but fields, modules that compute an attention, and
modules that lists, tuples and dicts keep; `CASES` as in forms_basic."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn


class OfFields(nn.Module):
  scale: float = 2.0

  def setup(self):
    self.double = lambda x: x * self.scale
    self.same = self.go
    self.first = nn.Dense(4)
    self.stack = nn.Sequential([self.first, self.go, lambda x: x + self.scale])

  def go(self, x):
    return x * self.scale

  def __call__(self, x):
    return self.double(self.same(self.stack(x)))


class OfFunctions(nn.Module):
  scale: float = 2.0

  def setup(self):
    self.double = lambda x: x * self.scale
    self.d = nn.Dense(4)
    self.twice = lambda x: self.double(self.double(x))

  def __call__(self, x):
    return self.twice(self.d(x))


class Initializers(nn.Module):
  scale: float = 2.0

  def setup(self):
    self.w = self.param('w', self.start, (4,))
    self.v = self.param('v', lambda key, shape: jnp.ones(shape) * self.scale, (4,))
    self.d = nn.Dense(4, kernel_init=self.start)

    def block(n):
      return nn.Dense(n)

    self.layers = [block(4) for _ in range(2)]

  def start(self, key, shape, dtype=jnp.float32):
    return jax.random.normal(key, shape, dtype) * self.scale

  def __call__(self, x):
    x = self.d(x) * self.w + self.v
    for layer in self.layers:
      x = layer(x)
    return x


class OfParameters(nn.Module):
  """What the function reads is computed for every call."""

  def setup(self):
    self.t = self.param('t', nn.initializers.ones, (4,))
    self.f = lambda x: x * self.t

  def __call__(self, x):
    return self.f(x)


def scaled(query, key, value, bias=None, mask=None, scale=1.0, **kwargs):
  return nn.dot_product_attention(query * scale, key, value, bias=bias, mask=mask)


class PartialAttention(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.MultiHeadDotProductAttention(num_heads=2, attention_fn=functools.partial(scaled, scale=2.0))(x)


class Attend(nn.Module):
  features: int = 4

  @nn.compact
  def __call__(self, query, key, value, bias=None, mask=None, **kwargs):
    t = self.param('t', nn.initializers.normal(1.0), (self.features,))
    return nn.dot_product_attention(query * t, key, value, bias=bias, mask=mask)


class AttentionOfModule(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.MultiHeadDotProductAttention(num_heads=1, attention_fn=Attend())(x)


class AttentionShared(nn.Module):
  def setup(self):
    self.attend = Attend(2)
    self.a = nn.MultiHeadDotProductAttention(num_heads=2, attention_fn=self.attend)
    self.b = nn.MultiHeadDotProductAttention(num_heads=2, attention_fn=self.attend)

  def __call__(self, x):
    return self.b(self.a(x))


class Containers(nn.Module):
  def setup(self):
    self.d = nn.Dense(4)
    self.listed = [self.d, nn.relu]
    self.paired = (self.d, nn.tanh)
    self.named = {'a': self.d}

  def __call__(self, x):
    for f in self.listed:
      x = f(x)
    for f in self.paired:
      x = f(x)
    return self.named['a'](x)


def make_encoder(degrees, power=2):
  table = np.zeros((degrees, 2))
  for i in range(degrees):
    table[i, 0] = power**i
    table[i, 1] = i
  shifts = jnp.asarray(table[:, 1])

  def encode(x):
    return jnp.sin(x[..., None] * table[:, 0] + shifts).reshape(*x.shape[:-1], -1)

  return encode


class OfTables(nn.Module):
  """What a function of the file has computed from fields alone."""

  degrees: int = 3

  def setup(self):
    self.encode = make_encoder(self.degrees, power=3)
    self.d = nn.Dense(4)

  def __call__(self, x):
    return self.d(self.encode(x))


CASES: list[Any] = [
    ('OfFields', {}, [(3, 4)], {}),
    ('Initializers', {}, [(3, 4)], {}),
    ('AttentionOfModule', {}, [(3, 4)], {}),
    ('AttentionShared', {}, [(3, 4)], {}),
    ('OfParameters', {}, [(3, 4)], {}),
    ('PartialAttention', {}, [(3, 4)], {}),
    ('Containers', {}, [(3, 4)], {}),
    ('OfFunctions', {}, [(3, 4)], {}),
    ('OfTables', {}, [(3, 4)], {}),
]
