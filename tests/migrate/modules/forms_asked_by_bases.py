"""A class asks for a size that its base wants, and what contains it can say none; `CASES` as in forms_basic.

The size was taken back from the class and not from its base, and asked for again, without end.
"""

import functools
from typing import Any

import flax.linen as nn
import jax.numpy as jnp
import numpy as np


class Core(nn.Module):
  heads: int
  width: Any = None
  out_width: Any = None
  size: int = 4
  @nn.compact
  def __call__(self, q, kv, mask=None):
    length = q.shape[-2]
    pads = np.array([[0, 0], [0, self.size - (length % self.size)], [0, 0]])
    q = jnp.pad(q, pads)
    if kv is not None:
      kv = jnp.pad(kv, pads)
    if kv is None:
      kv = q
    out_width = self.out_width or q.shape[-1]
    width = self.width or q.shape[-1]
    dense = functools.partial(nn.DenseGeneral, axis=-1, features=(self.heads, width // self.heads))
    a, b = (dense(name='a')(q), dense(name='b')(kv))
    out = nn.DenseGeneral(features=out_width, axis=(-2, -1), name='out')(a * b)
    return out[:, :length, :]


class OnItself(Core):
  @nn.compact
  def __call__(self, q, mask=None):
    return super().__call__(q=q, kv=None, mask=mask)


class Block(nn.Module):
  width: Any
  heads: Any
  seed: Any = None
  @nn.compact
  def __call__(self, x, mask=None):
    y = nn.LayerNorm()(x)
    y = OnItself(heads=self.heads, width=self.width)(y, mask=mask)
    return x + y


class Stack(nn.Module):
  width: int
  kind: str = 'block'
  depth: int = 2
  @nn.compact
  def __call__(self, x):
    if self.kind == 'block':
      block = Block
    else:
      raise ValueError('no such kind')
    for i in range(self.depth):
      x = block(width=self.width, heads=2, seed=i, name=f'block_{i}')(x, mask=None)
    return nn.LayerNorm(name='norm')(x)


CASES = [('Stack', dict(width=4), [(2, 5, 4)], {}), ('Stack', dict(width=4, depth=1), [(2, 4, 4)], {})]
