"""Keywords that mappings give to the layers and classes of a module; `CASES` as in forms_basic."""
import functools
from typing import Any

import jax.numpy as jnp
from flax import linen as nn


def options(bits, mode):
  if mode not in ('a', 'b'):
    raise ValueError(mode)
  if bits is not None:
    return {'precision': 'highest'}
  return {}


class LiteralKeywords(nn.Module):
  dtype: Any = None

  @nn.compact
  def __call__(self, x):
    kw = dict(use_bias=False, dtype=self.dtype)
    norm = {'epsilon': 1e-5, 'use_bias': False}
    x = nn.Dense(4, **kw)(x)
    x = nn.LayerNorm(**norm)(x)
    return nn.Dense(3, **{**kw, 'use_bias': True})(x)


class KeywordsOfHelper(nn.Module):
  bits: Any = None
  mode: str = 'a'

  def setup(self):
    dense = functools.partial(nn.Dense, use_bias=False, **options(self.bits, self.mode))
    self.up = dense(6)
    self.down = nn.Dense(3, **options(self.bits, self.mode))

  def __call__(self, x):
    return self.down(nn.relu(self.up(x)))


class KeywordsOfField(nn.Module):
  options: Any

  @nn.compact
  def __call__(self, x):
    return nn.Dense(3, **self.options)(x)


class KeywordsSet(nn.Module):
  bias: bool = True

  @nn.compact
  def __call__(self, x):
    kw = {'use_bias': self.bias}
    kw['precision'] = 'highest'
    conv = functools.partial(nn.Conv, kernel_size=(3, 3), **kw)
    x = conv(4)(x)
    kw['use_bias'] = False
    return nn.Dense(3, **kw)(x)


class Inner(nn.Module):
  width: int
  act: Any = nn.relu

  @nn.compact
  def __call__(self, x):
    return self.act(nn.Dense(self.width)(x))


class ClassKeywords(nn.Module):
  @nn.compact
  def __call__(self, x):
    kw = dict(width=x.shape[-1] * 2, act=nn.gelu)
    x = Inner(**kw)(x)
    return Inner(**kw, name='last')(x)


class KeywordsSometimes(nn.Module):
  precise: bool = False

  @nn.compact
  def __call__(self, x):
    kw = dict(use_bias=False)
    if self.precise:
      kw['precision'] = 'highest'
    return nn.Dense(3, **kw)(x)


CASES = [
    ('LiteralKeywords', {}, [(2, 5)], {}),
    ('LiteralKeywords', {'dtype': jnp.bfloat16}, [(2, 5)], {}),
    ('KeywordsOfHelper', {}, [(2, 5)], {}),
    ('KeywordsOfHelper', {'bits': 8}, [(2, 5)], {}),
    ('KeywordsOfField', {'options': {'use_bias': False}}, [(2, 5)], {}),
    ('KeywordsSet', {}, [(1, 5, 5, 2)], {}),
    ('ClassKeywords', {}, [(2, 5)], {}),
    ('KeywordsSometimes', {}, [(2, 5)], {}),
    ('KeywordsSometimes', {'precise': True}, [(2, 5)], {}),
]
