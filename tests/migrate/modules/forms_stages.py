"""Stages of convolutions that setup makes in loops, with a width that the loop hands on; `CASES` as in forms_basic."""
import dataclasses
from typing import Any
import flax.linen as nn
import jax, jax.numpy as jnp

@dataclasses.dataclass(frozen=True)
class Config:
  width: int = 4
  widths: tuple = (1, 2, 3)
  blocks: int = 2
  attention: tuple = (8,)

class Unit(nn.Module):
  features: int
  def setup(self):
    self.norm = nn.LayerNorm()
    self.conv = nn.Conv(self.features, (3, 3))
  def __call__(self, x):
    return self.conv(nn.relu(self.norm(x)))

class Mix(nn.Module):
  features: int
  def setup(self):
    self.q = nn.Dense(self.features)
  def __call__(self, x):
    return x + self.q(x)

class Down(nn.Module):
  features: int
  learned: bool = True
  def setup(self):
    if self.learned:
      self.conv = nn.Conv(self.features, (3, 3), strides=(2, 2), padding='VALID')
  def __call__(self, x):
    if self.learned:
      x = jnp.pad(x, ((0, 0), (0, 1), (0, 1), (0, 0)))
      return self.conv(x)
    return nn.avg_pool(x, (2, 2), strides=(2, 2))

class Stage(nn.Module):
  config: Config
  size: int
  index: int
  learned: bool = True
  def setup(self):
    width = self.config.width * ((1,) + tuple(self.config.widths))[self.index]
    out = self.config.width * self.config.widths[self.index]
    units, mixes = [], []
    for _ in range(self.config.blocks):
      units.append(Unit(out))
      width = out
      if self.size in self.config.attention:
        mixes.append(Mix(width))
    self.units = units
    self.mixes = mixes
    self.down = None
    if self.index != len(self.config.widths) - 1:
      self.down = Down(width, self.learned)
  def __call__(self, x):
    for i, unit in enumerate(self.units):
      x = unit(x)
      if self.mixes:
        x = self.mixes[i](x)
    if self.down is not None:
      x = self.down(x)
    return x

class Encoder(nn.Module):
  config: Config = Config()
  learned: bool = True
  def setup(self):
    self.first = nn.Conv(self.config.width, (3, 3))
    size = 16
    stages = []
    for i in range(len(self.config.widths)):
      stages.append(Stage(self.config, size, index=i, learned=self.learned))
      if i != len(self.config.widths) - 1:
        size = size // 2
    self.stages = stages
    self.last = Unit(self.config.width * self.config.widths[-1])
    self.out = nn.Dense(3)
  def __call__(self, x):
    x = self.first(x)
    for stage in self.stages:
      x = stage(x)
    return self.out(self.last(x))

class Up(nn.Module):
  config: Config
  index: int
  def setup(self):
    out = self.config.width * self.config.widths[self.index]
    self.units = [Unit(out) for _ in range(self.config.blocks)]
  def __call__(self, x):
    for unit in self.units:
      x = unit(x)
    return jax.image.resize(x, (x.shape[0], 2 * x.shape[1], 2 * x.shape[2], x.shape[3]), 'nearest')

class Decoder(nn.Module):
  """The list is in the order of the encoder's stages, and called from its end."""
  config: Config = Config()
  def setup(self):
    self.first = nn.Conv(self.config.width * self.config.widths[-1], (3, 3))
    stages = []
    for i in reversed(range(len(self.config.widths))):
      stages.append(Up(self.config, index=i))
    self.stages = list(reversed(stages))
    self.last = Unit(3)
  def __call__(self, x):
    x = self.first(x)
    for stage in reversed(self.stages):
      x = stage(x)
    return self.last(x)

class Inserted(nn.Module):
  widths: tuple = (4, 5, 6)
  def setup(self):
    layers = []
    for d in self.widths:
      layers.insert(0, nn.Dense(d))
    self.layers = layers
  def __call__(self, x):
    for layer in reversed(self.layers):
      x = layer(x)
    return x

CASES=[('Inserted',{},[(2,3)],{}),
       ('Decoder',{},[(2,4,4,5)],{}),
       ('Encoder',{},[(2,16,16,3)],{}),('Encoder',{'learned':False},[(2,16,16,3)],{}),
       ('Encoder',{'config':Config(widths=(2,1),attention=(16,8))},[(1,16,16,2)],{})]
