"""Factories chosen by a branch, of layers with and without flags at the call; `CASES` as in forms_basic."""
from functools import partial
from typing import Any
import flax.linen as nn
import jax, jax.numpy as jnp

class Net(nn.Module):
  kind: str = 'batch'
  deep: bool = False
  @nn.compact
  def __call__(self, x, train: bool = False):
    if self.kind == 'batch':
      norm = partial(nn.BatchNorm, use_running_average=not train, momentum=0.9)
    elif self.kind == 'group':
      norm = partial(nn.GroupNorm, num_groups=2)
    else:
      norm = nn.LayerNorm
    layer = partial(nn.Dense, use_bias=False) if self.deep else nn.Dense
    x = nn.Dense(4)(x)
    x = norm()(x)
    x = layer(6, name='second')(x)
    for i in range(2):
      x = nn.relu(norm()(x))
    return norm(name='last')(x)

class Block(nn.Module):
  norm: Any
  @nn.compact
  def __call__(self, x):
    return nn.relu(self.norm()(nn.Dense(4)(x)))

class Uses(nn.Module):
  group: bool = False
  @nn.compact
  def __call__(self, x, train=False):
    x = Block(partial(nn.BatchNorm, use_running_average=not train))(x)
    return Block(partial(nn.GroupNorm, num_groups=2))(x)

CASES = [('Net',dict(kind=k),[(2,3)],dict(train=t)) for k,t in (('batch',False),('batch',True),('group',False),('layer',True))]+[('Uses',{},[(2,3)],dict(train=True))]
