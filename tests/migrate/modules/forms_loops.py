"""Modules made in loops, comprehensions and helpers, under all sorts of names; `CASES` as in forms_basic."""

import functools
from collections.abc import Callable, Sequence
from typing import Any, Dict, Optional

import jax
import jax.numpy as jnp
from flax import linen as nn
from flax.linen import partitioning as nn_partitioning


class TwoLoops(nn.Module):
  n: int = 2
  @nn.compact
  def __call__(self, x):
    for i in range(self.n):
      x = nn.Dense(4)(x)
    x = nn.relu(x)
    for i in range(self.n):
      x = nn.Dense(5)(x)
    return nn.Dense(2)(x)


class LoopCond(nn.Module):
  feats: Sequence[int]
  act_final: bool = False
  ln: bool = True
  @nn.compact
  def __call__(self, x):
    for i, f in enumerate(self.feats):
      x = nn.Dense(f, name=f'hidden_{i}')(x)
      if i != len(self.feats) - 1 or self.act_final:
        x = nn.relu(x)
        if self.ln:
          x = nn.LayerNorm()(x)
    return x


class ZipLoop(nn.Module):
  a: Sequence[int]
  b: Sequence[int]
  @nn.compact
  def __call__(self, x):
    for f, g in zip(self.a, self.b):
      x = nn.Dense(f)(x)
      x = nn.Dense(g, use_bias=False)(x)
    return x


class DictItems(nn.Module):
  heads: Dict[str, int]
  @nn.compact
  def __call__(self, x):
    out = {}
    for name, f in self.heads.items():
      out[name] = nn.Dense(f, name=name)(x)
    return out


class ReversedL(nn.Module):
  feats: Sequence[int]
  @nn.compact
  def __call__(self, x):
    for f in reversed(self.feats):
      x = nn.Dense(f)(x)
    for f in self.feats[::-1]:
      x = nn.Dense(f)(x)
    for f in self.feats[:-1]:
      x = nn.Dense(f)(x)
    return x


class AppendPop(nn.Module):
  n: int = 3
  @nn.compact
  def __call__(self, x):
    skips = []
    for i in range(self.n):
      x = nn.Dense(4 * (i + 1))(x)
      skips.append(x)
    for i in reversed(range(self.n)):
      s = skips.pop()
      x = nn.Dense(4 * (i + 1))(x) + s
    return x


class NestComp(nn.Module):
  n: int = 2
  @nn.compact
  def __call__(self, x):
    ys = [[nn.Dense(3)(x) for j in range(2)] for i in range(self.n)]
    return sum(sum(y) for y in ys)


class NestSetup(nn.Module):
  n: int = 2
  def setup(self):
    self.ls = [[nn.Dense(3) for j in range(2)] for i in range(self.n)]
  def __call__(self, x):
    return sum(l(x) for r in self.ls for l in r)


class FieldName(nn.Module):
  prefix: str = 'p'
  @nn.compact
  def __call__(self, x):
    x = nn.Dense(4, name=self.prefix + '_in')(x)
    x = nn.Dense(4, name=f'{self.prefix}_out')(x)
    return nn.Dense(3, name='%s_x' % self.prefix)(x)


class HelperName(nn.Module):
  @nn.compact
  def __call__(self, x):
    def block(y, name):
      return nn.relu(nn.Dense(4, name=name)(y))
    x = block(x, 'a')
    return block(x, 'b')


class HelperMethod(nn.Module):
  def block(self, y, f, name):
    y = nn.Dense(f, name=f'{name}_d')(y)
    return nn.LayerNorm(name=f'{name}_ln')(y)
  @nn.compact
  def __call__(self, x):
    x = self.block(x, 4, 'a')
    return self.block(x, 5, 'b')


class HelperLoop(nn.Module):
  n: int = 3
  @nn.compact
  def __call__(self, x):
    def block(y, i):
      y = nn.Dense(4, name=f'd_{i}')(y)
      return nn.Dense(4)(nn.relu(y))
    for i in range(self.n):
      x = block(x, i)
    return x


class RangeOffset(nn.Module):
  n: int
  @nn.compact
  def __call__(self, x):
    for i in range(1, self.n):
      x = nn.Dense(4, name=f'layer_{i}')(x)
    return x


class TwoLoopNames(nn.Module):
  n: int
  @nn.compact
  def __call__(self, x):
    for i in range(self.n):
      for j in range(2):
        x = nn.Dense(4, name=f'layer_{i}_{j}')(x)
    return x


class ConstLoop(nn.Module):
  @nn.compact
  def __call__(self, x):
    for f, k in [(3, 'a'), (4, 'b')]:
      x = nn.Dense(f, name=k)(x)
    for f in (5, 6):
      x = nn.Dense(f)(x)
    return x


class CompUse(nn.Module):
  dims: Sequence[int] = (3, 4)
  @nn.compact
  def __call__(self, x):
    layers = [nn.Dense(d) for d in self.dims]
    outs = []
    for l in layers:
      outs.append(l(x))
    return jnp.concatenate(outs, axis=-1)


class EnumIf(nn.Module):
  n: int = 3
  @nn.compact
  def __call__(self, x):
    for i in range(self.n):
      if i == 0:
        x = nn.Dense(4)(x)
      else:
        x = nn.LayerNorm()(x)
        x = nn.Dense(4)(x) + x
    return x


class ContinueLoop(nn.Module):
  n: int = 3
  @nn.compact
  def __call__(self, x):
    for i in range(self.n):
      if i == 1:
        continue
      x = nn.Dense(4)(x)
    return x


class RBOfResStages(nn.Module):
  f: int
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.f)(x)
class ResStages(nn.Module):
  sizes: Sequence[int]
  @nn.compact
  def __call__(self, x):
    for i, s in enumerate(self.sizes):
      for j in range(s):
        x = RBOfResStages(4 * 2 ** i)(x)
    return RBOfResStages(3)(x)


class LoopTwoKinds(nn.Module):
  n: int
  @nn.compact
  def __call__(self, x):
    x = nn.Dense(4, name='pre')(x)
    for i in range(self.n):
      y = nn.LayerNorm()(x)
      y = nn.Dense(8)(y)
      y = nn.Dense(4)(nn.relu(y))
      x = x + y
    x = nn.LayerNorm()(x)
    for _ in range(2):
      x = nn.relu(nn.Dense(4)(x))
    return x


class LambdaTwice(nn.Module):
  @nn.compact
  def __call__(self, x):
    head = lambda z: nn.Dense(4)(z)
    return head(x) + head(x)


class LambdaFeat(nn.Module):
  @nn.compact
  def __call__(self, x):
    dense = lambda f: nn.Dense(f, use_bias=False)
    y = dense(8)(x)
    return dense(3)(nn.relu(y))


class LambdaFeatName(nn.Module):
  @nn.compact
  def __call__(self, x):
    dense = lambda f, name: nn.Dense(f, use_bias=False, name=name)
    y = dense(8, 'up')(x)
    return dense(3, 'down')(nn.relu(y))


CASES: list[Any] = [
    ('TwoLoops', dict(n=2), [(2, 3)], dict()),
    ('LoopCond', dict(feats=(4,4,4), act_final=True), [(2, 3)], dict()),
    ('ZipLoop', dict(a=(3,4),b=(5,6)), [(2, 3)], dict()),
    ('DictItems', dict(heads={'a':3,'b':4}), [(2, 3)], dict()),
    ('ReversedL', dict(feats=(3,4,5)), [(2, 3)], dict()),
    ('AppendPop', dict(n=3), [(2, 3)], dict()),
    ('NestComp', dict(), [(2, 3)], dict()),
    ('NestSetup', dict(), [(2, 3)], dict()),
    ('FieldName', dict(prefix='p'), [(2, 3)], dict()),
    ('HelperName', dict(), [(2, 3)], dict()),
    ('HelperMethod', dict(), [(2, 3)], dict()),
    ('HelperLoop', dict(n=3), [(2, 3)], dict()),
    ('RangeOffset', dict(n=4), [(2, 3)], dict()),
    ('TwoLoopNames', dict(n=2), [(2, 3)], dict()),
    ('ConstLoop', dict(), [(2, 3)], dict()),
    ('CompUse', dict(), [(2, 3)], dict()),
    ('EnumIf', dict(n=3), [(2, 3)], dict()),
    ('ContinueLoop', dict(n=3), [(2, 3)], dict()),
    ('ResStages', dict(sizes=(2,1)), [(2, 3)], dict()),
    ('LoopTwoKinds', dict(n=2), [(2, 3)], dict()),
    ('LambdaTwice', dict(), [(2, 3)], dict()),
    ('LambdaFeat', dict(), [(2, 3)], dict()),
    ('LambdaFeatName', dict(), [(2, 3)], dict()),
]
