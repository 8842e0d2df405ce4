"""Subclasses of layers with a `__call__` of their own around `super().__call__(x)`; `CASES` as in forms_basic."""
from functools import partial
from typing import Any, Callable
import flax.linen as nn
import jax, jax.numpy as jnp

ModuleDef = Any

class AnyGroupNorm(nn.GroupNorm):
  """Also without a batch."""

  def __call__(self, x):
    if x.ndim == 3:
      x = x[jnp.newaxis]
      x = super().__call__(x)
      return x[0]
    else:
      return super().__call__(x)

class Narrow(nn.LayerNorm):
  epsilon: float = 1e-3
  def __call__(self, x, scale=1.0):
    dtype = x.dtype
    y = super().__call__(x.astype(jnp.float32))
    return (nn.relu(y) * scale).astype(dtype)

class Flat(nn.Dense):
  @nn.compact
  def __call__(self, inputs):
    y = super().__call__(inputs)
    return y.reshape((*y.shape[:-1], 2, -1))

class Block(nn.Module):
  filters: int
  conv: ModuleDef
  norm: ModuleDef
  act: Callable
  @nn.compact
  def __call__(self, x):
    y = self.norm()(x)
    y = self.act(y)
    y = self.conv(self.filters, (3, 3))(y)
    y = self.norm(name='last')(y)
    if x.shape != y.shape:
      x = self.conv(self.filters, (1, 1), name='proj')(x)
    return x + y

class Encoder(nn.Module):
  sizes: tuple = (1, 2)
  dtype: Any = jnp.float32
  act: Callable = nn.relu
  @nn.compact
  def __call__(self, x):
    conv = partial(nn.Conv, use_bias=False, dtype=self.dtype)
    norm = partial(AnyGroupNorm, num_groups=2, epsilon=1e-5, dtype=self.dtype)
    x = conv(4, (3, 3))(x)
    for i, n in enumerate(self.sizes):
      for j in range(n):
        x = Block(4 * 2**i, conv=conv, norm=norm, act=self.act)(x)
    return norm()(x)

class Head(nn.Module):
  @nn.compact
  def __call__(self, x):
    x = Narrow()(x)
    x = Narrow(epsilon=1e-5, name='scaled')(x, scale=2.0)
    x = Flat(6)(x)
    return nn.Dense(3)(x)

class InSetup(nn.Module):
  def setup(self):
    self.norm = AnyGroupNorm(num_groups=3)
    self.flat = Flat(8)
    self.out = nn.Dense(2)
  def __call__(self, x):
    return self.out(self.flat(self.norm(x)))

CASES=[('Encoder',{},[(2,8,8,3)],{}),('Encoder',{'dtype':jnp.bfloat16},[(2,8,8,3)],{}),('Head',{},[(2,5)],{}),('InSetup',{},[(2,4,4,6)],{})]
