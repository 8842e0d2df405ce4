"""Modules under several names, in lists and in dicts, whose keys stay Linen's; `CASES` as in forms_basic."""

import functools
from collections.abc import Sequence

from flax import linen as nn


class OneAndInDict(nn.Module):
  def setup(self):
    self.d = nn.Dense(4)
    self.heads = {'a': self.d, 'b': nn.Dense(4)}
  def __call__(self, x):
    return self.heads['a'](self.heads['b'](x)) + self.d(x)


class TwiceInDict(nn.Module):
  def setup(self):
    d = nn.Dense(4)
    self.heads = {'a': d, 'b': d}
    self.last = d
  def __call__(self, x):
    return self.heads['a'](self.heads['b'](x)) + self.last(x)


class DictsWithin(nn.Module):
  def setup(self):
    self.heads = {'a': nn.Dense(4), 'b': [nn.Dense(4), nn.Dense(4)], 'c': {'x': nn.Dense(4)}}
  def __call__(self, x):
    return self.heads['c']['x'](self.heads['b'][1](self.heads['b'][0](self.heads['a'](x))))


class DictsInList(nn.Module):
  def setup(self):
    self.layers = [{'a': nn.Dense(4), 'b': nn.Dense(4)}, {'a': nn.Dense(4), 'b': nn.Dense(4)}]
  def __call__(self, x):
    for layer in self.layers[0], self.layers[1]:
      x = layer['b'](layer['a'](x))
    return x


class InListTwice(nn.Module):
  def setup(self):
    self.d = nn.Dense(4)
    self.layers = [self.d, self.d, nn.Dense(4)]
  def __call__(self, x):
    for layer in self.layers:
      x = layer(x)
    return x + self.d(x)


class Block(nn.Module):
  @nn.compact
  def __call__(self, x, train=True):
    return nn.relu(nn.BatchNorm(use_running_average=not train)(nn.Dense(4)(x)))


class Around(nn.Module):
  inner: nn.Module
  @nn.compact
  def __call__(self, x):
    return self.inner(nn.Dense(4)(x))


class InTwoParents(nn.Module):
  @nn.compact
  def __call__(self, x):
    block = Block()
    return Around(block)(x) + Around(block)(x) + block(x)


class InPartial(nn.Module):
  @nn.compact
  def __call__(self, x):
    block = Block()
    around = functools.partial(Around, inner=block)
    return around()(x) + around(name='last')(x)


class Several(nn.Module):
  parts: Sequence[nn.Module]
  @nn.compact
  def __call__(self, x):
    for part in self.parts:
      x = part(x)
    return x


class InOneListTwice(nn.Module):
  @nn.compact
  def __call__(self, x):
    d = nn.Dense(4)
    return Several([d, nn.Dense(4), d])(x)


CASES = [
  ('OneAndInDict', {}, [(2, 4)], {}),
  ('TwiceInDict', {}, [(2, 4)], {}),
  ('DictsWithin', {}, [(2, 4)], {}),
  ('DictsInList', {}, [(2, 4)], {}),
  ('InListTwice', {}, [(2, 4)], {}),
  ('InTwoParents', {}, [(2, 4)], {}),
  ('InPartial', {}, [(2, 4)], {}),
  ('InOneListTwice', {}, [(2, 4)], {}),
]
