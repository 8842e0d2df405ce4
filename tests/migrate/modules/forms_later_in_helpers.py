"""Modules that helper functions call, made when the class was called once; families whose last class has a setup; `CASES` as in
forms_basic."""

from typing import Any
import jax
import jax.numpy as jnp
from flax import linen as nn


def leaves(x):
  return jax.tree.leaves({'a': x, 'b': x * 2})


def masked(mask, fn, x):
  where = mask[:, None, None] > 0
  return jnp.where(where, fn(jnp.where(where, x, 0)), 0)


def norm_of(x, kind, train):
  if kind == 'batch':
    return nn.BatchNorm(use_running_average=not train)(x)
  if kind == 'layer':
    return nn.LayerNorm()(x)
  return x


def twice(mask, fn, x):
  return masked(mask, fn, x) + 1


class Masked(nn.Module):
  @nn.compact
  def __call__(self, x, mask):
    h = leaves(x)[0]
    h = masked(mask, nn.LayerNorm(), h)
    return twice(mask, nn.Dense(4), jnp.concatenate(leaves(h), -1))


class Normed(nn.Module):
  kind: str = 'batch'
  @nn.compact
  def __call__(self, x, train: bool = False):
    h = norm_of(leaves(x)[1], self.kind, train)
    h = nn.Dense(3)(jnp.concatenate(leaves(h), -1))
    return norm_of(h, self.kind, train)


class Named(nn.Module):
  name_of: str = 'base'
  def said(self):
    return len(self.name_of)


class Layered(Named):
  width: int = 3
  def setup(self):
    self.cut = lambda x: x * 2
    self.dense = nn.Dense(self.width)
  @nn.compact
  def __call__(self, x, *args, **kwargs):
    h = leaves(x)[1]
    return nn.Dense(4)(self.cut(h)) + self.dense(h).sum() * self.said()


class Biased(nn.Module):
  width: int
  @nn.compact
  def __call__(self, x, bias=None):
    h = nn.Dense(self.width)(x)
    if bias is not None:
      h = h + nn.Dense(self.width)(bias)
    return h


class Shadowing(nn.Module):
  bias: float = 2.0
  width: int = 4
  @nn.compact
  def __call__(self, x):
    h = leaves(x)[0]
    return Biased(self.width)(h, bias=jnp.concatenate(leaves(h), -1)) * self.bias


class Conditioned(nn.Module):
  width: int
  @nn.compact
  def __call__(self, x, mask=None, cond=None):
    h = leaves(x)[0]
    if cond is not None:
      h = jnp.concatenate(leaves(h) + [cond], -1)
    h = nn.Dense(self.width)(h)
    if mask is not None:
      h = h * nn.Dense(self.width)(leaves(mask)[0])
    return nn.Dense(self.width)(leaves(h)[0])


class Sparing(nn.Module):
  width: int = 4
  @nn.compact
  def __call__(self, x, cond):
    return Conditioned(self.width)(leaves(x)[0], cond=cond)


def started(x):
  key = jax.random.key(0)
  Masked().init(key, x, x[:, 0, 0])
  Normed().init(key, x)
  Shadowing().init(key, x)
  Sparing().init(key, x, x)
  Conditioned(3).init(key, x)
  return Layered().init(key, x)


CASES: list[Any] = [
    ('Masked', dict(), [(2, 5, 3), (2,)], dict()),
    ('Normed', dict(), [(2, 5, 3)], dict()),
    ('Normed', dict(kind='layer'), [(2, 5, 3)], dict()),
    ('Shadowing', dict(), [(2, 5, 3)], dict()),
    ('Sparing', dict(), [(2, 5, 3), (2, 5, 2)], dict()),
    ('Layered', dict(), [(2, 5, 3)], dict()),
    ('Normed', dict(kind='none'), [(2, 5, 3)], dict()),
]
