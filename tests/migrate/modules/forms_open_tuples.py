"""Tuples of sizes of any length, whatever their default has: lengths, sums, parts and joins of them; `CASES` as in forms_basic."""
from typing import Any, Optional, Sequence, Tuple
import functools
import itertools
import math
import numpy as np
import flax.linen as nn
import jax, jax.numpy as jnp

class L1(nn.Module):
  sizes: Sequence[int] = (3, 4)
  extra: Sequence[int] = (5,)
  @nn.compact
  def __call__(self, x):
    allof = tuple(self.sizes) + tuple(self.extra)
    x = nn.Dense(allof[-1])(x)
    return nn.LayerNorm()(x)

class L2(nn.Module):
  sizes: Sequence[int] = (3, 4)
  extra: Sequence[int] = (5,)
  @nn.compact
  def __call__(self, x):
    last = (*self.sizes, *self.extra)[-1]
    x = nn.Dense(last)(x)
    return nn.LayerNorm()(x)

class L4(nn.Module):
  sizes: Sequence[int]
  @nn.compact
  def __call__(self, x):
    rev = self.sizes[::-1]
    for s in rev:
      x = nn.Dense(s)(x)
    x = nn.LayerNorm()(x)
    for s in self.sizes[1:]:
      x = nn.Dense(s)(x)
    x = nn.LayerNorm()(x)
    for s in (2,) + tuple(self.sizes):
      x = nn.Dense(s)(x)
    x = nn.LayerNorm()(x)
    for s in [*self.sizes, 7]:
      x = nn.Dense(s)(x)
    x = nn.LayerNorm()(x)
    return nn.Dense(max(self.sizes))(x)

class L5(nn.Module):
  sizes: Sequence[int]
  @nn.compact
  def __call__(self, x):
    for s in self.sizes * 2:
      x = nn.Dense(s)(x)
    x = nn.LayerNorm()(x)
    for s in sorted(self.sizes):
      x = nn.Dense(s)(x)
    return nn.LayerNorm()(x)

class A(nn.Module):
  sizes: Sequence[int] = (3, 4)
  @nn.compact
  def __call__(self, x):
    if len(self.sizes) > 2:
      x = nn.Dense(9)(x)
    x = nn.Dense(sum(self.sizes))(x)
    x = nn.LayerNorm()(x)
    x = nn.Dense(max(self.sizes) + len(self.sizes))(x)
    return nn.LayerNorm()(x)

class C(nn.Module):
  sizes: tuple = (3, 4)
  @nn.compact
  def __call__(self, x):
    n = len(self.sizes)
    for i in range(n - 1):
      x = nn.Dense(self.sizes[i])(x)
      x = nn.LayerNorm()(x)
    x = nn.Dense(self.sizes[n - 1])(x)
    return nn.LayerNorm()(x)

class D(nn.Module):
  sizes: tuple = (3, 4)
  @nn.compact
  def __call__(self, x):
    dims = [x.shape[-1], *self.sizes]
    for a, b in zip(dims[:-1], dims[1:]):
      w = self.param(f'w{a}_{b}', nn.initializers.ones, (a, b))
      x = x @ w
    return nn.LayerNorm()(x)

class E(nn.Module):
  sizes: tuple = (3, 4)
  @nn.compact
  def __call__(self, x):
    for s in self.sizes + (2,):
      x = nn.Dense(s)(x)
    x = nn.LayerNorm()(x)
    for s in list(self.sizes)[::-1]:
      x = nn.Dense(s)(x)
    x = nn.LayerNorm()(x)
    x = nn.Dense(self.sizes[-2])(x)
    x = nn.LayerNorm()(x)
    return nn.Dense((self.sizes * 2)[-1])(x)

class Lists(nn.Module):
  sizes: Sequence[int] = (3, 4)
  extra: Sequence[int] = (5,)
  @nn.compact
  def __call__(self, x):
    allof = tuple(self.sizes) + tuple(self.extra)
    for s in allof[:-1]:
      x = nn.Dense(s + 1)(x)
    last = allof[-1]
    x = nn.Dense(last * 2 - 1)(x)
    for i in range(len(allof) - 1):
      x = nn.Dense(allof[i] * 2)(x)
    return nn.LayerNorm()(x)

SIZES=[(3,4),(5,),(6,2,3)]
CASES=[('L1',{},[(2,3)],{}),('L1',dict(sizes=(3,),extra=(1,2)),[(2,3)],{}),('L2',{},[(2,3)],{}),('L4',dict(sizes=(3,6)),[(2,3)],{}),('L4',dict(sizes=(5,4,3)),[(2,3)],{}),('L5',dict(sizes=(5,4,3)),[(2,3)],{}),('Lists',{},[(2,3)],{}),('Lists',dict(sizes=(2,)),[(2,3)],{}),
       *[(name,dict(sizes=sizes),[(2,3)],{}) for name in 'ACDE' for sizes in SIZES if name != 'E' or len(sizes) > 1]]
