"""Variants that were once rewritten wrongly, and their neighbours; `CASES` as in forms_basic."""
import flax.linen as nn
import jax, jax.numpy as jnp
from typing import Any, Optional, Sequence

class A1(nn.Module):   # reassigned name between uses
  @nn.compact
  def __call__(self, x):
    d = 4
    x = nn.Dense(d)(x)
    d = 7
    y = nn.Dense(d)(x)
    return nn.Dense(d + 1)(jnp.concatenate([x, y], -1))

class A2(nn.Module):   # field mutated per iteration
  n: int = 3
  @nn.compact
  def __call__(self, x):
    w = 2
    for i in range(self.n):
      x = nn.Dense(w)(x)
      w *= 2
    return nn.Dense(w)(x)

class A3(nn.Module):   # reversed loop
  dims: Sequence[int]
  @nn.compact
  def __call__(self, x):
    for d in reversed(self.dims):
      x = nn.Dense(d)(x)
    for d in self.dims:
      x = nn.LayerNorm()(x)
    return x

class A5(nn.Module):   # range with start
  n: int = 3
  @nn.compact
  def __call__(self, x):
    for i in range(1, self.n):
      x = nn.Dense(3 + i, name=f'l_{i}')(x)
    return x

class A6(nn.Module):   # dropout flag from field
  rate: float = 0.5
  deterministic: Optional[bool] = None
  @nn.compact
  def __call__(self, x, deterministic=None):
    det = nn.merge_param('deterministic', self.deterministic, deterministic)
    x = nn.Dense(4)(x)
    return nn.Dropout(self.rate)(x, deterministic=det)

class A8(nn.Module):   # shadowed builtin name / tuple return
  @nn.compact
  def __call__(self, x):
    a, b = nn.Dense(3)(x), nn.Dense(4, use_bias=False)(x)
    return nn.Dense(2)(jnp.concatenate((a, b), axis=1))

class A9(nn.Module):
  hidden: int = 6
  dtype: Any = None
  @nn.compact
  def __call__(self, x):
    x = nn.DenseGeneral((2, self.hidden // 2), axis=-1, dtype=self.dtype)(x)
    return nn.DenseGeneral(5, axis=(-2, -1))(x)

CASES=[('A1',{},[(2,3)],{}),('A2',{},[(2,3)],{}),('A3',dict(dims=[4,5,6]),[(2,3)],{}),('A5',{},[(2,3)],{}),
('A6',{},[(2,3)],dict(deterministic=True)),('A8',{},[(2,3)],{}),('A9',{},[(2,3)],{})]
