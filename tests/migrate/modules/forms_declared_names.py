"""Classes that declare `name` themselves: Linen's own field stands in its place; `CASES` as in forms_basic."""

from collections.abc import Callable

import flax.linen as nn


class Act(nn.Module):
  width: int
  name: str = None
  act: Callable = nn.relu
  @nn.compact
  def __call__(self, x):
    return self.act(nn.Dense(self.width)(x))


class Told(nn.Module):
  width: int
  name: str = 'fixed'
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.width)(x) * len(self.name)


class Only(nn.Module):
  name: str
  @nn.compact
  def __call__(self, x):
    return nn.Dense(2)(x)


class OfBase(Act):
  name: str = 'other'
  scale: float = 1.0
  @nn.compact
  def __call__(self, x):
    return super().__call__(x) * self.scale


class Holder(nn.Module):
  @nn.compact
  def __call__(self, x):
    x = Told(3, name='to_tell')(x)
    x = Told(4)(x)
    x = Only(name='lone')(x)
    x = OfBase(3, nn.sigmoid, 2.0)(x)
    return Act(4, nn.tanh)(x)


CASES = [('Holder', {}, [(2, 5)], {}), ('Act', dict(width=3), [(2, 5)], {}), ('OfBase', dict(width=3, scale=3.0), [(2, 5)], {})]
