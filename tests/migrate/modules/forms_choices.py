"""One of several kinds of modules, by a condition; `CASES` as in forms_basic."""

import functools
from collections.abc import Callable, Sequence
from typing import Any, Dict, Optional

import jax
import jax.numpy as jnp
from flax import linen as nn
from flax.linen import partitioning as nn_partitioning


class EqMod(nn.Module):
  flag: bool = False
  @nn.compact
  def __call__(self, x):
    if self.flag:
      m = nn.Dense(3)
    else:
      m = nn.Dense(4, use_bias=False)
    return m(x)


class EqMod2(nn.Module):
  flag: bool = False
  @nn.compact
  def __call__(self, x):
    norm = nn.LayerNorm if self.flag else nn.RMSNorm
    return norm()(x)


class EqMod3(nn.Module):
  flag: bool = False
  @nn.compact
  def __call__(self, x):
    if self.flag:
      norm = nn.LayerNorm
    else:
      norm = functools.partial(nn.RMSNorm, epsilon=1e-3)
    return norm()(x)


class SelfAsArgument(nn.Module):
  def _norm(self, module, x):
    return x * module.param('scale', nn.initializers.ones, (x.shape[-1],))
  @nn.compact
  def __call__(self, x):
    return self._norm(self, nn.Dense(3)(x))


class BlockOfCondRemat1(nn.Module):
  f: int
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.f)(x)
class CondRemat1(nn.Module):
  use: bool = False
  @nn.compact
  def __call__(self, x):
    block = nn.remat(BlockOfCondRemat1) if self.use else BlockOfCondRemat1
    for i in range(3):
      x = block(4)(x)
    return x


class BlockOfCondRemat2(nn.Module):
  f: int
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.f)(x)
class CondRemat2(nn.Module):
  use: bool = False
  @nn.compact
  def __call__(self, x):
    block = BlockOfCondRemat2
    if self.use:
      block = nn.remat(block)
    return block(4)(x)


class BlockOfCondRemat3(nn.Module):
  f: int
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.f)(x)
class CondRemat3(nn.Module):
  use: bool = False
  def setup(self):
    block = BlockOfCondRemat3
    if self.use:
      block = nn.remat(block)
    self.b = block(4)
  def __call__(self, x):
    return self.b(x)


class BlockOfTwoFirst(nn.Module):
  f: int
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.f)(x)
class TwoFirst(nn.Module):
  use: bool = False
  def setup(self):
    """Doc."""
    block = BlockOfTwoFirst
    # a comment
    remat_block = nn.remat(block)
    self.b = remat_block(4)
    if self.use:
      norm = nn.LayerNorm
    elif self.use is None:
      norm = nn.GroupNorm
    else:
      norm = functools.partial(nn.RMSNorm, epsilon=1e-3)
    self.norm = norm()
  def __call__(self, x):
    return self.norm(self.b(x))


class BnChoice(nn.Module):
  ln: bool = False
  @nn.compact
  def __call__(self, x, train=False):
    norm = nn.LayerNorm if self.ln else functools.partial(nn.BatchNorm, use_running_average=not train)
    x = norm()(x)
    x = nn.Dense(4)(x)
    return norm()(x)


class StrChoice(nn.Module):
  kind: str = 'layer'
  @nn.compact
  def __call__(self, x):
    if self.kind == 'layer':
      norm = nn.LayerNorm
    elif self.kind == 'group':
      norm = functools.partial(nn.GroupNorm, num_groups=2)
    else:
      raise ValueError(self.kind)
    for i in range(2):
      x = norm()(nn.Dense(4)(x))
    return x


class SelfNorm(nn.Module):
  ln: bool = True
  def setup(self):
    if self.ln:
      self.norm = nn.LayerNorm()
    else:
      self.norm = nn.RMSNorm()
  def __call__(self, x):
    return self.norm(x)


class ModNone(nn.Module):
  ln: bool = True
  @nn.compact
  def __call__(self, x):
    norm = nn.LayerNorm(name='a') if self.ln else None
    x = nn.Dense(3)(x)
    if norm is not None:
      x = norm(x)
    return x


class EqWidth(nn.Module):
  flag: bool = False
  @nn.compact
  def __call__(self, x):
    if self.flag:
      m = nn.Dense(3)
    else:
      m = nn.Dense(5, use_bias=False)
    return nn.Dense(2, name='out')(m(x))


CASES: list[Any] = [
    ('EqMod', dict(flag=False), [(2,4)], dict()),
    ('EqMod2', dict(flag=False), [(2,4)], dict()),
    ('EqMod3', dict(flag=False), [(2,4)], dict()),
    ('SelfAsArgument', dict(), [(2,4)], dict()),
    ('CondRemat1', dict(use=True), [(2,4)], dict()),
    ('CondRemat1', dict(use=False), [(2,4)], dict()),
    ('CondRemat2', dict(use=False), [(2,4)], dict()),
    ('CondRemat3', dict(use=False), [(2,4)], dict()),
    ('TwoFirst', dict(use=True), [(2,4)], dict()),
    ('BnChoice', dict(ln=True), [(2,4)], dict(train=True)),
    ('BnChoice', dict(ln=False), [(2,4)], dict(train=True)),
    ('StrChoice', dict(kind='group'), [(2,4)], dict()),
    ('SelfNorm', dict(ln=False), [(2,4)], dict()),
    ('ModNone', dict(ln=False), [(2,4)], dict()),
    ('EqWidth', dict(flag=False), [(2,4)], dict()),
]
