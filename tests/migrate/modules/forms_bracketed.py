"""Names and arguments that stand for sums, conditions and negative numbers, where the constructor says them beside operators; `CASES` as in forms_basic."""
from typing import Any, Optional, Sequence, Tuple
import functools
import itertools
import math
import numpy as np
import flax.linen as nn
import jax, jax.numpy as jnp

class Cond(nn.Module):
  @nn.compact
  def __call__(self, x):
    d = x.shape[-1] + 1
    if 0.5 * d > 2.2:
      x = nn.Dense(7)(x)
    return nn.Dense(int(d * 0.5))(x)

class Substituted(nn.Module):
  a: int = 3
  b: int = 4
  @nn.compact
  def __call__(self, x):
    def block(x, f):
      if f % 2.5 > 2.1:
        x = nn.Dense(f * 2)(x)
      x = nn.Dense(2 * f)(x)
      return nn.Dense(features=f ** 2)(x)
    x = block(x, self.a + self.b)
    x = block(x, -self.a + 6)
    x = block(x, self.a if self.a > self.b else self.b)
    return nn.Dense(3)(x)

def conv(x, f, k):
  return nn.Conv(f * 2, (k, k), strides=k // 2, padding=k - 1)(x)

class Fn(nn.Module):
  a: int = 3
  @nn.compact
  def __call__(self, x):
    x = conv(x, self.a + 1, 1 + self.a)
    return conv(x, x.shape[-1] - 2, 3)

class Init(nn.Module):
  a: float = .3
  b: float = .4
  @nn.compact
  def __call__(self, x):
    def d(x, s):
      return nn.Dense(3, kernel_init=nn.initializers.normal(2 * s))(x)
    k = x.shape[-1] + 2
    w = self.param('w', nn.initializers.constant(1 / k), (k - 2,))
    return d(x * w, self.a + self.b)

class CondS(nn.Module):
  a: bool = True
  b: bool = False
  c: bool = False
  d: bool = True
  def setup(self):
    if self.a or self.b:
      if self.c or self.d:
        self.m = nn.Dense(3)
    self.n = nn.Dense(4) if (self.a if self.b else self.c) else None
  def __call__(self, x):
    if self.a or self.b:
      if self.c or self.d:
        x = self.m(x)
    if self.n is not None:
      x = self.n(x)
    return x

class CondC(nn.Module):
  a: bool = True
  b: bool = False
  c: bool = False
  d: bool = True
  @nn.compact
  def __call__(self, x):
    flag = self.a or self.b
    other = self.c if self.b else self.d
    if flag and other:
      x = nn.Dense(3)(x)
    elif not flag:
      x = nn.Dense(4)(x)
    if not (flag and other) or self.c:
      x = nn.LayerNorm()(x)
    y = nn.Dense(5)(x) if flag and other else x
    return y * (2 if flag else 3)

class Sums(nn.Module):
  f: int = 9
  e: int = 4
  @nn.compact
  def __call__(self, x):
    dense = functools.partial(nn.Dense, features=self.f + self.e)
    wide = lambda m: nn.Dense(m * (self.f - self.e))
    x = dense()(x)
    x = wide(self.f + 1)(x)
    total = self.f + self.e
    x = nn.Dense(total * 2, kernel_init=nn.initializers.normal(1 / total))(x)
    x = nn.Dense(2 ** (total - 11))(x)
    neg = -self.e
    x = nn.Dense(total + neg * 2 - -neg)(x)
    w = self.param('w', lambda k, s: jnp.ones(s) / total, (x.shape[-1] * 2 // 2,))
    sc = self.f - self.e
    init = nn.initializers.variance_scaling(2.0 / sc, 'fan_in', 'normal')
    x = nn.Dense(3, kernel_init=init)(x * w)
    return x

class Child(nn.Module):
  f: int
  g: Optional[int] = None
  @nn.compact
  def __call__(self, x):
    w = self.g or self.f + 1
    x = nn.Dense(w * 2)(x)
    return nn.Dense(self.f // 2 * 3)(x)

class ParentC(nn.Module):
  n: int = 5
  @nn.compact
  def __call__(self, x):
    x = Child(self.n + 1)(x)
    x = nn.LayerNorm()(x)
    x = Child(f=x.shape[-1] - 1, g=self.n - 2)(x)
    x = nn.LayerNorm()(x)
    x = Child(self.n if self.n > 3 else 4)(x)
    return nn.LayerNorm()(x)

FLAGS=[dict(zip('abcd',v)) for v in itertools.product([True,False],repeat=4)]
CASES=[('Cond',{},[(2,3)],{}),('Cond',{},[(2,4)],{}),('Substituted',{},[(2,3)],{}),('Substituted',dict(a=2,b=2),[(2,3)],{}),('Substituted',dict(a=4,b=2),[(2,3)],{}),('Fn',{},[(2,8,8,3)],{}),('Init',{},[(2,3)],{}),
       *[('CondS',flags,[(2,3)],{}) for flags in FLAGS[::3]],*[('CondC',flags,[(2,3)],{}) for flags in FLAGS[::3]],('Sums',{},[(2,3)],{}),('ParentC',{},[(2,3)],{}),('ParentC',dict(n=3),[(2,3)],{})]
