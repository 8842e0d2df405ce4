"""What setup computes from the variables of submodules, or by methods that read them; `CASES` as in forms_basic."""

from typing import Any

import jax.numpy as jnp
from flax import linen as nn


class Sub(nn.Module):
  n: int = 4
  def setup(self):
    self.w = self.param('w', nn.initializers.normal(1.0), (self.n,))
    self.k = self.n * 2
  @property
  def double(self):
    return self.w * 2
  def get(self):
    return self.w * 3
  def __call__(self, x):
    return x * self.w


class Transposed(nn.Module):
  def setup(self):
    self.e = nn.Embed(5, 4)
    self.table = self.e.embedding.T
  def __call__(self, x):
    return x @ self.table


class Table(nn.Module):
  def setup(self):
    self.e = nn.Embed(5, 4)
    self.table = self.e.embedding
  def __call__(self, x):
    return x @ self.table.T


class Listed(nn.Module):
  def setup(self):
    self.e = nn.Embed(5, 4)
    t = self.e.embedding
    self.tables = [t, t * 2]
  def __call__(self, x):
    return x @ self.tables[1].T + x @ self.tables[0].T


class ByHelper(nn.Module):
  def setup(self):
    self.t = self.param('t', nn.initializers.ones, (4,))
    self.scale = self._scale()
  def _scale(self):
    return self.t * 2
  def __call__(self, x):
    return x * self.scale


class ByHelperOfInner(nn.Module):
  def setup(self):
    self.e = nn.Embed(5, 4)
    self.table = self._tie()
  def _tie(self):
    return self.e.embedding.T
  def __call__(self, x):
    return x @ self.table


class SizesOfInner(nn.Module):
  def setup(self):
    self.s = Sub()
    self.d = nn.Dense(self.s.n)
    self.k = self.s.n * 2
  def __call__(self, x):
    return self.d(self.s(x)) * self.k


class ShapeAsked(nn.Module):
  def setup(self):
    self.e = nn.Embed(5, 4)
    if self.e.embedding.shape[0] > 2:
      self.k = 2
    else:
      self.k = 3
  def __call__(self, x):
    return x @ self.e.embedding.T * self.k


class NumberOfInner(nn.Module):
  def setup(self):
    self.s = Sub()
    self.q = self.s.k
  def __call__(self, x):
    return self.s(x) * self.q


class Several(nn.Module):
  def setup(self):
    self.es = [nn.Embed(5, 4) for _ in range(2)]
    self.tables = [e.embedding.T for e in self.es]
  def __call__(self, x):
    return x @ self.tables[0] + x @ self.tables[1]


class OfField(nn.Module):
  inner: nn.Module
  def setup(self):
    self.w2 = self.inner.w * 2
  def __call__(self, x):
    return self.inner(x) * self.w2


class Around(nn.Module):
  @nn.compact
  def __call__(self, x):
    return OfField(inner=Sub())(x)


class Head(nn.Module):
  embed: nn.Embed
  def setup(self):
    self.table = self.embed.embedding.T
  def __call__(self, x):
    return x @ self.table


class Tied(nn.Module):
  def setup(self):
    self.e = nn.Embed(5, 4)
    self.h = Head(self.e)
  def __call__(self, x):
    return self.h(x)


class Documented(nn.Module):
  inner: nn.Module
  n: int = 3
  def setup(self):
    """Doc."""
    self.w2 = self.inner.w * 2
    # a comment
    self.w3 = self.inner.w * 3

    self.d = nn.Dense(4)
  def __call__(self, x):
    return self.d(self.inner(x) * self.w2 + self.w3)


class AroundDocumented(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Documented(inner=Sub())(x)


class TiedOrNot(nn.Module):
  tie: bool = True
  def setup(self):
    self.e = nn.Embed(5, 4)
    self.kernel = self.e.embedding.T if self.tie else self.param('kernel', nn.initializers.ones, (4, 5))
  def __call__(self, x):
    return x @ self.kernel


CASES: list[Any] = [
    ('Transposed', {}, [(3, 4)], {}),
    ('ByHelper', {}, [(3, 4)], {}),
    ('Around', {}, [(3, 4)], {}),
    ('AroundDocumented', {}, [(3, 4)], {}),
    ('Table', {}, [(3, 4)], {}),
    ('Listed', {}, [(3, 4)], {}),
    ('ByHelperOfInner', {}, [(3, 4)], {}),
    ('SizesOfInner', {}, [(3, 4)], {}),
    ('ShapeAsked', {}, [(3, 4)], {}),
    ('NumberOfInner', {}, [(3, 4)], {}),
    ('Several', {}, [(3, 4)], {}),
    ('Tied', {}, [(3, 4)], {}),
    ('TiedOrNot', {}, [(3, 4)], {}),
]
