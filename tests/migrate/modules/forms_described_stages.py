"""Stages whose numbers of blocks a function of the project looks up; `CASES` as in forms_basic."""

from typing import Optional, Sequence, Union

import jax.numpy as jnp
from flax import linen as nn


def blocks_of(depth):
  if isinstance(depth, list):
    depth = tuple(depth)
  return {26: [2, 2, 1, 2], 50: [3, 4, 6, 3]}.get(depth, depth)


class Unit(nn.Module):
  nmid: Optional[int] = None
  strides: Sequence[int] = (1, 1)

  @nn.compact
  def __call__(self, x):
    nmid = self.nmid or x.shape[-1] // 4
    nout = nmid * 4
    residual = x
    if x.shape[-1] != nout or self.strides != (1, 1):
      residual = nn.Conv(nout, (1, 1), self.strides, name='proj')(x)
    x = nn.relu(nn.Conv(nmid, (1, 1), name='conv1')(x))
    x = nn.relu(nn.Conv(nmid, (3, 3), self.strides, name='conv2')(x))
    return residual + nn.Conv(nout, (1, 1), name='conv3')(x)


class Stage(nn.Module):
  block_size: int
  first_stride: Sequence[int] = (1, 1)
  nmid: Optional[int] = None

  @nn.compact
  def __call__(self, x):
    x = Unit(self.nmid, strides=self.first_stride, name='unit1')(x)
    for i in range(1, self.block_size):
      x = Unit(self.nmid, name=f'unit{i + 1}')(x)
    return x


class Described(nn.Module):
  num_classes: Optional[int] = None
  width: float = 1
  depth: Union[int, Sequence[int]] = 26

  @nn.compact
  def __call__(self, image, *, train=False):
    del train
    blocks = blocks_of(self.depth)
    width = int(4 * self.width)
    out = {}
    x = nn.Conv(width, (7, 7), (2, 2), use_bias=False, name='root')(image)
    out['stem'] = x
    x = Stage(blocks[0], nmid=width, name='block1')(x)
    out['stage1'] = x
    for i, block_size in enumerate(blocks[1:], 1):
      x = Stage(block_size, nmid=width * 2 ** i, first_stride=(2, 2), name=f'block{i + 1}')(x)
      out[f'stage{i + 1}'] = x
    out['pre_logits_2d'] = x
    x = out['pre_logits'] = jnp.mean(x, axis=(1, 2))
    if self.num_classes:
      head = nn.Dense(self.num_classes, name='head', kernel_init=nn.initializers.zeros)
      out['logits_2d'] = head(out['pre_logits_2d'])
      x = out['logits'] = head(out['pre_logits'])
    return x, out


class UnitWithOutputs(nn.Module):
  block_size: int
  nmid: Optional[int] = None
  first_stride: Sequence[int] = (1, 1)

  @nn.compact
  def __call__(self, x):
    out = {}
    x = out['unit01'] = Unit(self.nmid, strides=self.first_stride, name='unit01')(x)
    for i in range(1, self.block_size):
      x = out[f'unit{i+1:02d}'] = Unit(self.nmid, name=f'unit{i+1:02d}')(x)
    return x, out


class WithOutputs(nn.Module):
  num_classes: Optional[int] = None
  width: int = 1
  depth: Union[int, Sequence[int]] = 26

  @nn.compact
  def __call__(self, image, *, train=False):
    blocks = blocks_of(self.depth)
    width = int(4 * self.width)
    out = {}
    x = out['stem'] = nn.Conv(width, (7, 7), (2, 2), name='root')(image)
    x, out['stage1'] = UnitWithOutputs(blocks[0], nmid=width, name='block1')(x)
    for i, block_size in enumerate(blocks[1:], 1):
      x, out[f'stage{i + 1}'] = UnitWithOutputs(block_size, width * 2 ** i, first_stride=(2, 2), name=f'block{i + 1}')(x)
    x = out['norm_pre_head'] = nn.LayerNorm(name='norm-pre-head')(x)
    x = out['pre_logits'] = jnp.mean(nn.relu(x), axis=(1, 2))
    if self.num_classes:
      kw = {'kernel_init': nn.initializers.ones}
      head = nn.Dense(self.num_classes, name='head', **kw)
      x = out['logits'] = head(out['pre_logits'])
    return x, out


CASES = [
  ("Described", {"num_classes": 3}, [(1, 32, 32, 3)], {}),
  ("Described", {"depth": (1, 2)}, [(1, 16, 16, 3)], {}),
  ("WithOutputs", {"num_classes": 3}, [(1, 32, 32, 3)], {}),
]
