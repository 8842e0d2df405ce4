"""Factories in fields: classes, partials, several kinds of one field, scripts and aliases that fill them; `CASES` as in forms_basic."""
from functools import partial
from typing import Any, Callable, Sequence
import flax.linen as nn
import jax, jax.numpy as jnp

ModuleDef = Any
GroupNorm = partial(nn.GroupNorm, num_groups=2)

class Basic(nn.Module):
  filters: int
  conv: ModuleDef
  norm: ModuleDef
  act: Callable
  strides: tuple = (1, 1)
  @nn.compact
  def __call__(self, x):
    residual = x
    y = self.conv(self.filters, (3, 3), self.strides)(x)
    y = self.norm()(y)
    y = self.act(y)
    y = self.conv(self.filters, (3, 3))(y)
    y = self.norm(scale_init=nn.initializers.zeros_init())(y)
    if residual.shape != y.shape:
      residual = self.conv(self.filters, (1, 1), self.strides, name='conv_proj')(residual)
      residual = self.norm(name='norm_proj')(residual)
    return self.act(residual + y)

class Wide(nn.Module):   # gives four times the features that Basic does
  filters: int
  conv: ModuleDef
  norm: ModuleDef
  act: Callable
  strides: tuple = (1, 1)
  @nn.compact
  def __call__(self, x):
    y = self.conv(self.filters, (1, 1), self.strides)(x)
    y = self.act(self.norm()(y))
    return self.conv(self.filters * 4, (1, 1))(y)

class Net(nn.Module):
  stages: Sequence[int]
  block_cls: ModuleDef
  filters: int = 4
  dtype: Any = jnp.float32
  act: Callable = nn.relu
  conv: ModuleDef = nn.Conv
  last: ModuleDef = partial(nn.LayerNorm, epsilon=1e-4)
  @nn.compact
  def __call__(self, x, train: bool = True):
    conv = partial(self.conv, use_bias=False, dtype=self.dtype)   # hides the field
    norm = partial(nn.BatchNorm, use_running_average=not train, momentum=0.9, dtype=self.dtype)
    x = conv(self.filters, (5, 5), (2, 2), name='conv_init')(x)
    x = norm(name='bn_init')(x)
    for i, n in enumerate(self.stages):
      for j in range(n):
        strides = (2, 2) if i > 0 and j == 0 else (1, 1)
        x = self.block_cls(self.filters * 2**i, strides=strides, conv=conv, norm=norm, act=self.act)(x)
    x = jnp.mean(x, axis=(1, 2))
    x = self.last()(x)
    return nn.Dense(3, dtype=self.dtype)(x)

NetBasic = partial(Net, stages=[1, 1], block_cls=Basic)
def wide(stages, block=Wide):
  return Net(stages, block)
NetLocal = partial(Net, stages=[1], block_cls=Basic, conv=nn.ConvLocal)

class Hidden(nn.Module):   # a local name, a lambda and a loop that hide fields
  width: int = 3
  depth: int = 2
  f: Any = jnp.tanh
  @nn.compact
  def __call__(self, x):
    width = self.width * 2
    make = lambda depth: nn.Dense(depth + self.depth)
    x = self.f(nn.Dense(width)(x))
    x = nn.Dense(self.width)(x)
    return make(1)(x)

class Norms(nn.Module):   # two kinds that NNX makes and calls alike
  norm: ModuleDef
  @nn.compact
  def __call__(self, x):
    x = self.norm()(x)
    return nn.Dense(4)(self.norm(name='second')(x))

class TwoNorms(nn.Module):
  @nn.compact
  def __call__(self, x):
    x = Norms(nn.LayerNorm)(x)
    x = Norms(norm=GroupNorm)(x)
    return Norms(partial(nn.RMSNorm, epsilon=1e-3))(x)

class Pick(nn.Module):   # the name of what it makes depends on the kind, and so does the size
  part: ModuleDef
  @nn.compact
  def __call__(self, x):
    x = self.part()(x)
    x = self.part()(x)
    return nn.Dense(2)(x)

class Doubled(nn.Module):
  @nn.compact
  def __call__(self, x):
    return jnp.concatenate([nn.Dense(3)(x), x], -1)

class Same(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(x.shape[-1])(x)

class Picks(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Pick(Doubled)(x) + Pick(part=Same)(x)

class PickInSetup(nn.Module):
  part: ModuleDef
  def setup(self):
    self.first = self.part()
    self.second = nn.Dense(4)
  def __call__(self, x):
    return self.second(self.first(x))

class PicksInSetup(nn.Module):
  @nn.compact
  def __call__(self, x):
    return PickInSetup(Doubled)(x) + PickInSetup(Same)(x)

CASES = [
  ('Net', dict(stages=[1, 1], block_cls=Basic), [(2, 8, 8, 3)], dict(train=True)),
  ('Net', dict(stages=[1, 1], block_cls=Basic), [(2, 8, 8, 3)], dict(train=False)),
  ('Net', dict(stages=[1, 2], block_cls=Wide), [(2, 8, 8, 3)], dict(train=False)),
  ('Hidden', {}, [(2, 3)], {}),
  ('TwoNorms', {}, [(2, 4)], {}),
  ('Picks', {}, [(2, 3)], {}),
  ('PicksInSetup', {}, [(2, 3)], {}),
]
