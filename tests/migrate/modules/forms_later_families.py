"""Modules that are made when the class was called once, under optional inputs and in families; `CASES` as in forms_basic."""

from typing import Any
import jax
import jax.numpy as jnp
from flax import linen as nn


def leaves(x):
  return jax.tree.leaves({'a': x, 'b': x * 2})


class Cross(nn.Module):
  width: int
  norm: bool = True
  def setup(self):
    self.q = nn.Dense(self.width)
    self.k = nn.Dense(self.width)
    self.last = nn.LayerNorm() if self.norm else None
  def __call__(self, x, memory=None):
    h = self.q(leaves(x[:, :])[0])
    if memory is not None:
      h = h + self.k(leaves(memory[..., :])[1]).mean()
    if self.last is not None:
      h = self.last(leaves(h)[0])
    return h


def started(x, y):
  key = jax.random.key(0)
  return Cross(3).init(key, x, y)


class Base(nn.Module):
  width: int
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.width)(leaves(self.before(x))[0])
  def before(self, x):
    return x[:, :]


class Same(Base):
  bias: bool = True


class Wider(Base):
  def before(self, x):
    return jnp.concatenate([x, x], -1)


class More(Base):
  @nn.compact
  def __call__(self, x):
    h = super().__call__(x)
    return nn.Dense(2, name='more')(leaves(h)[1]) + h.sum()


class Either(nn.Module):
  @nn.compact
  def __call__(self, ids=None, embeds=None):
    h = nn.Embed(10, 4)(ids) if embeds is None else embeds
    return {'h': nn.Dense(4)(h)}


class AllOptional(nn.Module):
  @nn.compact
  def __call__(self, ids=None, embeds=None, scale=None):
    kwargs = {'ids': ids, 'embeds': embeds}
    out = Either()(**kwargs)
    h = nn.Dense(2)(leaves(out['h'])[0])
    return h if scale is None else h * jnp.exp(scale)


def families(x):
  key = jax.random.key(0)
  AllOptional().init(key, embeds=x)
  return Base(3).init(key, x), Same(3).init(key, x), Wider(3).init(key, x), More(3).init(key, x)


CASES: list[Any] = [
    ('Cross', dict(width=4), [(2, 3)], dict(memory=None)),
    ('Cross', dict(width=4, norm=False), [(2, 3), (2, 5)], dict()),
    ('Base', dict(width=4), [(2, 3)], dict()),
    ('AllOptional', dict(), [[[1, 2, 3]]], dict(embeds=None)),
    ('Same', dict(width=4), [(2, 3)], dict()),
    ('Wider', dict(width=4), [(2, 3)], dict()),
    ('More', dict(width=4), [(2, 3)], dict()),
]
