"""Still more ways to write a Linen module: aliases, sharing, nested loops, inheritance; `CASES` as in forms_basic."""
import flax.linen as fnn
from flax.linen import Dense, compact, Module
import jax, jax.numpy as jnp
from typing import Any, Sequence

class Shared(Module):
  d: int
  @compact
  def __call__(self, x):
    dense = Dense(self.d)
    x = dense(x)
    y = dense(jnp.tanh(x))
    return x + y

class ZipTwo(fnn.Module):
  dims: Sequence[int]
  def setup(self):
    self.ups = [fnn.Dense(2 * d) for d in self.dims]
    self.downs = [fnn.Dense(6) for d in self.dims]
  def __call__(self, x):
    for u, d in zip(self.ups, self.downs):
      x = x + d(fnn.relu(u(x)))
    return x

class Sow(fnn.Module):
  @fnn.compact
  def __call__(self, x):
    h = fnn.Dense(4, name='h')(x)
    self.sow('intermediates', 'feat', h)
    return h * 2

class Nest(fnn.Module):
  n: int
  @fnn.compact
  def __call__(self, x):
    for i in range(self.n):
      for j in range(2):
        x = fnn.Dense(5 + j)(x)
      x = fnn.LayerNorm()(x)
    return x

class Alt(fnn.Module):
  n: int
  @fnn.compact
  def __call__(self, x):
    for i in range(self.n):
      if i % 2 == 0:
        x = fnn.Dense(5)(x)
      else:
        x = fnn.Dense(7, use_bias=False)(x)
    return x

class Pre(fnn.Module):
  feats: Sequence[int]
  @fnn.compact
  def __call__(self, x):
    x = fnn.Dense(3)(x)
    for f in self.feats:
      x = fnn.relu(fnn.Dense(f)(x))
    x = fnn.Dense(2)(x)
    return fnn.Dense(2)(x)

class Comp(fnn.Module):
  n: int = 3
  @fnn.compact
  def __call__(self, x):
    ys = [fnn.Dense(4, name=f'head_{i}')(x) for i in range(self.n)]
    return jnp.stack(ys, axis=-1)

class Base(fnn.Module):
  d: int = 4
  def setup(self):
    self.l = fnn.Dense(self.d)
  def __call__(self, x):
    return self.act(self.l(x))
  def act(self, x):
    return x
class Derived(Base):
  def act(self, x):
    return jnp.tanh(x)

class Over(fnn.Module):
  d: int = 4
  @fnn.compact
  def __call__(self, x, d=None):
    w = self.param('w', fnn.initializers.normal(), (x.shape[-1], self.d))
    b = self.param('b', lambda k, s: jnp.zeros(s), (self.d,))
    s = self.param('s', fnn.initializers.ones, ())
    return x @ w + b * s

class Flat(fnn.Module):
  @fnn.compact
  def __call__(self, x):
    b = x.shape[0]
    x = fnn.Conv(4, (3, 3), strides=(2, 2), padding='VALID')(x)
    x = x.reshape(b, -1)
    return fnn.Dense(3)(x)

class Trans(fnn.Module):
  heads: int = 2
  @fnn.compact
  def __call__(self, x):
    b, t, d = x.shape
    h = d // self.heads
    qkv = fnn.Dense(3 * d)(x)
    q, k, v = jnp.split(qkv, 3, axis=-1)
    q = q.reshape(b, t, self.heads, h).transpose(0, 2, 1, 3)
    k = k.reshape(b, t, self.heads, h).transpose(0, 2, 1, 3)
    v = v.reshape(b, t, self.heads, h).transpose(0, 2, 1, 3)
    a = fnn.softmax(q @ k.swapaxes(-1, -2) / jnp.sqrt(h))
    y = (a @ v).transpose(0, 2, 1, 3).reshape(b, t, d)
    return fnn.Dense(d, name='out')(y)

class Skip(fnn.Module):
  @fnn.compact
  def __call__(self, x):
    h = fnn.Dense(3)(x)
    return fnn.Dense(2)(jnp.concatenate([x, h], axis=-1))

class Bf(fnn.Module):
  dtype: Any = jnp.bfloat16
  @fnn.compact
  def __call__(self, x):
    x = fnn.Dense(4, dtype=self.dtype)(x)
    x = fnn.LayerNorm(dtype=self.dtype)(x)
    return fnn.GroupNorm(num_groups=2, dtype=self.dtype)(x)

class SelfA(fnn.Module):
  @fnn.compact
  def __call__(self, x, train=False):
    return fnn.SelfAttention(num_heads=2, qkv_features=8, deterministic=not train)(x)

class Gru(fnn.Module):
  @fnn.compact
  def __call__(self, x):
    return fnn.RNN(fnn.GRUCell(5))(x)

class Bi(fnn.Module):
  @fnn.compact
  def __call__(self, x):
    return fnn.Bidirectional(fnn.RNN(fnn.GRUCell(5)), fnn.RNN(fnn.GRUCell(5)))(x)

CASES=[('Shared',dict(d=3),[(2,3)],{}),('ZipTwo',dict(dims=[3,4]),[(2,6)],{}),('Sow',{},[(2,3)],{}),('Nest',dict(n=2),[(2,3)],{}),('Alt',dict(n=3),[(2,3)],{}),
('Pre',dict(feats=[4,5]),[(2,3)],{}),('Comp',{},[(2,3)],{}),('Base',{},[(2,3)],{}),('Derived',{},[(2,3)],{}),('Over',{},[(2,3)],{}),('Flat',{},[(2,9,9,2)],{}),
('Trans',{},[(2,3,4)],{}),('Skip',{},[(2,3)],{}),('Bf',{},[(2,3)],{}),('SelfA',{},[(2,3,8)],{}),('Gru',{},[(2,3,4)],{}),('Bi',{},[(2,3,4)],{})]
