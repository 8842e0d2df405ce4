"""Arrays whose shapes nothing but an assertion tells; `CASES` as in forms_basic."""

from typing import Any
import jax
import jax.numpy as jnp
from flax import linen as nn


def product(x, w):
  letters = 'abcdefgh'[:x.ndim]
  return jnp.einsum(f'{letters},{letters[-1]}z->{letters[:-1]}z', x, w)


class Contracted(nn.Module):
  features: int
  @nn.compact
  def __call__(self, x):
    w = self.param('w', nn.initializers.lecun_normal(), (x.shape[-1], self.features))
    y = product(x, w)
    assert y.shape == x.shape[:-1] + (self.features,)
    return y


class Stacked(nn.Module):
  @nn.compact
  def __call__(self, x):
    h = x + Contracted(3)(x)
    h = Contracted(6)(h)
    if h.shape[1] in (5, 7):
      h = nn.Dense(7)(h)
    return nn.Conv(4, (3,))(h)


class Swapped(nn.Module):
  @nn.compact
  def __call__(self, x):
    b, t, d = x.shape
    h = jax.tree.leaves({'a': x})[0]
    assert (b, t, d) == h.shape and t > 1, f'{h.shape}'
    return nn.Dense(4)(h)


class Halved(nn.Module):
  @nn.compact
  def __call__(self, x):
    b, h, w, c = x.shape
    x = nn.Conv(c, (3, 3), strides=(2, 2))(x)
    assert x.shape == (b, h // 2, w // 2, c)
    return nn.Dense(x.shape[1])(x)


class Shorter(nn.Module):
  @nn.compact
  def __call__(self, x):
    h = jax.tree.leaves({'a': x})[0] + self.param('b', nn.initializers.ones, (3,))
    assert h.shape == x.shape
    w = self.param('w', nn.initializers.ones, h.shape[1:])
    return nn.Dense(4)(h * w)


CASES: list[Any] = [
    ('Contracted', dict(features=4), [(2, 5, 3)], dict()),
    ('Stacked', dict(), [(2, 5, 3)], dict()),
    ('Stacked', dict(), [(2, 6, 3)], dict()),
    ('Swapped', dict(), [(2, 5, 3)], dict()),
    ('Halved', dict(), [(2, 8, 8, 3)], dict()),
    ('Shorter', dict(), [(2, 5, 3)], dict()),
]
