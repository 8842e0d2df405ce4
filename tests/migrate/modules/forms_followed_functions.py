"""Functions and methods that compute sizes and give their own parameters other values; sizes computed in many ways; `CASES` as in forms_basic."""
from typing import Any, Optional, Sequence, Tuple
import functools
import itertools
import math
import numpy as np
import flax.linen as nn
import jax, jax.numpy as jnp

def up(w, mult, div=8):
  w = w * mult
  new = max(div, int(w + div / 2) // div * div)
  if new < 0.9 * w:
    new += div
  return int(new)

class Twice(nn.Module):
  w: int = 30
  w2: int = 12
  mult: float = 1.3
  @nn.compact
  def __call__(self, x):
    y = nn.Dense(up(self.w, self.mult))(x)
    z = nn.Dense(up(self.w2, self.mult, 4))(x)
    y = nn.LayerNorm()(y)
    z = nn.LayerNorm()(z)
    return nn.Dense(2)(y) + nn.Dense(2)(z)

class Mixed(nn.Module):
  w: int = 30
  mult: float = 1.3
  @nn.compact
  def __call__(self, x):
    y = nn.Dense(up(self.w, self.mult))(x)
    z = nn.Dense(up(x.shape[-1], self.mult))(x)
    y = nn.LayerNorm()(y)
    z = nn.LayerNorm()(z)
    return nn.Dense(2)(y) + nn.Dense(2)(z)

def conv(x, features, stride=1):
  features = features * 2
  if stride > 1:
    features = features + 1
  return nn.Dense(features)(x)

class Helped(nn.Module):
  features: int = 3
  @nn.compact
  def __call__(self, x):
    x = conv(x, self.features)
    x = nn.LayerNorm()(x)
    x = conv(x, self.features, 2)
    x = nn.LayerNorm()(x)
    return nn.Dense(self.features)(x)

class Method(nn.Module):
  features: int = 3
  def block(self, x, features, name):
    features *= 2
    x = nn.Dense(features, name=name)(x)
    return nn.LayerNorm(name=name + 'n')(x)
  @nn.compact
  def __call__(self, x):
    x = self.block(x, self.features, 'a')
    x = self.block(x, self.features + 1, 'b')
    return nn.Dense(self.features)(x)

class Closure(nn.Module):
  features: int = 3
  @nn.compact
  def __call__(self, x):
    def block(x, f):
      if f > 2:
        f = f - 1
      else:
        f += 4
      return nn.LayerNorm()(nn.Dense(f)(x))
    x = block(x, self.features)
    x = block(x, 2)
    x = block(x, self.features * 2)
    return nn.Dense(self.features)(x)

class Given(nn.Module):
  features: int = 3
  @nn.compact
  def __call__(self, x):
    def widen(f, by=2):
      for _ in range(2):
        f = f * by
      return f
    x = nn.Dense(widen(self.features))(x)
    x = nn.LayerNorm()(x)
    x = nn.Dense(widen(by=3, f=self.features))(x)
    return nn.LayerNorm()(x)

class Pow(nn.Module):
  w: int = 4
  n: int = 3
  @nn.compact
  def __call__(self, x):
    for i in range(self.n):
      x = nn.Dense(self.w * 2 ** i)(x)
      x = nn.LayerNorm()(x)
    for i in reversed(range(self.n)):
      x = nn.Dense(self.w * 2 ** i)(x)
      x = nn.LayerNorm()(x)
    return nn.Dense(2)(x)

class Prod(nn.Module):
  out: Tuple[int, ...] = (2, 3)
  @nn.compact
  def __call__(self, x):
    x = x.reshape(x.shape[0], -1)
    x = nn.Dense(int(np.prod(self.out)))(x)
    x = nn.LayerNorm()(x)
    x = nn.Dense(functools.reduce(lambda a, b: a * b, self.out))(x)
    x = nn.LayerNorm()(x)
    return x.reshape((-1, *self.out))

class Ceil(nn.Module):
  w: int = 7
  @nn.compact
  def __call__(self, x):
    x = nn.Dense(-(-self.w // 2))(x)
    x = nn.LayerNorm()(x)
    x = nn.Dense(math.ceil(self.w / 2))(x)
    x = nn.LayerNorm()(x)
    x = nn.Dense(round(self.w / 2))(x)
    x = nn.LayerNorm()(x)
    x = nn.Dense((self.w + 1) // 2)(x)
    return nn.LayerNorm()(x)

class Bools(nn.Module):
  gated: bool = True
  w: int = 4
  @nn.compact
  def __call__(self, x):
    x = nn.Dense(self.w * (1 + self.gated))(x)
    x = nn.LayerNorm()(x)
    if self.gated:
      a, b = jnp.split(x, 2, -1)
      x = a * nn.sigmoid(b)
    return nn.LayerNorm()(x)

class Round8(nn.Module):
  w: int = 30
  mult: float = 1.3
  div: int = 8
  @nn.compact
  def __call__(self, x):
    v = self.w * self.mult
    new = max(self.div, int(v + self.div / 2) // self.div * self.div)
    if new < 0.9 * v:
      new += self.div
    x = nn.Dense(new)(x)
    return nn.LayerNorm()(x)

def round_filters(w, mult, div=8):
  w = w * mult
  new = max(div, int(w + div / 2) // div * div)
  if new < 0.9 * w:
    new += div
  return int(new)

class Round8f(nn.Module):
  w: int = 30
  mult: float = 1.3
  @nn.compact
  def __call__(self, x):
    x = nn.Dense(round_filters(self.w, self.mult))(x)
    x = nn.LayerNorm()(x)
    return nn.Dense(round_filters(x.shape[-1], 0.3))(x)

class Nearest(nn.Module):
  w: int = 10
  mult: float = 0.75
  @nn.compact
  def __call__(self, x):
    hidden = int(2 * (4 * self.w) / 3)
    hidden = 4 * ((hidden + 4 - 1) // 4)
    x = nn.Dense(hidden)(x)
    x = nn.LayerNorm()(x)
    hidden = int(self.mult * hidden)
    x = nn.Dense(hidden)(x)
    return nn.LayerNorm()(x)

CASES=[('Twice',{},[(2,3)],{}),('Twice',dict(w=3,w2=3,mult=.5),[(2,3)],{}),('Mixed',{},[(2,3)],{}),('Mixed',dict(w=100),[(2,30)],{}),('Helped',{},[(2,3)],{}),('Method',{},[(2,3)],{}),('Closure',{},[(2,3)],{}),('Closure',dict(features=1),[(2,3)],{}),
       ('Given',{},[(2,3)],{}),('Pow',{},[(2,3)],{}),('Prod',{},[(2,3,2)],{}),('Ceil',{},[(2,3)],{}),('Ceil',dict(w=5),[(2,3)],{}),('Bools',{},[(2,3)],{}),('Bools',dict(gated=False),[(2,3)],{}),('Round8',{},[(2,3)],{}),('Round8',dict(w=9,mult=1.),[(2,3)],{}),
       ('Round8f',{},[(2,3)],{}),('Round8f',dict(w=9,mult=1.),[(2,3)],{}),('Nearest',{},[(2,3)],{}),('Nearest',dict(w=7,mult=.3),[(2,3)],{})]
