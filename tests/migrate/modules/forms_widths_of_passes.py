"""Lists of modules whose loop changes what their widths are said with, behind them: `ch *= 2`; `CASES` as in forms_basic."""

from typing import Any
import jax.numpy as jnp
from flax import linen as nn


class Block(nn.Module):
  width: int

  @nn.compact
  def __call__(self, x):
    return nn.relu(nn.Conv(self.width, (3, 3))(x))


class Up(nn.Module):
  width: int

  @nn.compact
  def __call__(self, x):
    return nn.relu(nn.ConvTranspose(self.width, (2, 2), (2, 2), use_bias=False)(x))


class Behind(nn.Module):
  width: int = 4
  depth: int = 3

  @nn.compact
  def __call__(self, x):
    down = []
    ch = self.width
    for _ in range(self.depth):
      down.append(Block(ch))
      ch *= 2
    for layer in down:
      x = layer(x)
    return nn.Dense(3)(x)


class Ahead(nn.Module):
  width: int = 4
  depth: int = 3

  @nn.compact
  def __call__(self, x):
    down = [Block(self.width)]
    ch = self.width
    for _ in range(self.depth):
      ch *= 2
      down.append(Block(ch))
      ch += 1
    for layer in down:
      x = layer(x)
    return nn.Dense(3)(x)


class Pairs(nn.Module):
  width: int = 4
  depth: int = 3

  @nn.compact
  def __call__(self, x):
    first, second = [], []
    ch = self.width
    for _ in range(self.depth):
      first.append(Block(ch))
      second.append(nn.DenseGeneral(ch + 1))
      ch, last = ch * 2, ch
    for one, other in zip(first, second):
      x = nn.Dense(x.shape[-1] + 1)(other(one(x)))
    return nn.Dense(last)(x)


class UnderConditions(nn.Module):
  width: int = 4
  depth: int = 4
  doubles: bool = True

  @nn.compact
  def __call__(self, x):
    layers = []
    ch = self.width
    for i in range(self.depth):
      layers.append(Block(ch))
      if i > 0:
        if self.doubles:
          ch *= 2
        else:
          ch += 1
    for layer in layers:
      x = layer(x)
    return nn.Dense(3)(x)


class Numbered(nn.Module):
  """The later loop counts with the same name."""

  width: int = 4
  depth: int = 3

  @nn.compact
  def __call__(self, x):
    first, second = [Block(2)], [nn.Dense(5)]
    for i in range(self.depth):
      first.append(Block(self.width * i + 1))
      second.append(nn.Dense(self.width + i))
    for i, (one, other) in enumerate(zip(first, second)):
      x = other(one(x)) * (i + 1)
    return x


class From(nn.Module):
  """The input has the first width."""

  width: int = 4
  depth: int = 3

  @nn.compact
  def __call__(self, x):
    down = []
    ch = self.width
    x = nn.Dense(ch)(x)
    for _ in range(self.depth):
      down.append(Block(ch))
      ch *= 2
    for layer in down:
      x = layer(x)
    return nn.Dense(ch)(x)


class Ups(nn.Module):
  """Two lists that are filled alike, and gone through together."""

  width: int = 4
  depth: int = 3

  @nn.compact
  def __call__(self, x):
    ch = self.width * 2 ** (self.depth - 1)
    x = Block(ch * 2)(x)
    ups, blocks = [], []
    for _ in range(self.depth - 1):
      ups.append(Up(ch))
      blocks.append(Block(ch))
      ch //= 2
    ups.append(Up(ch))
    blocks.append(Block(ch))
    for up, block in zip(ups, blocks):
      x = block(up(x))
    return x


class UNet(nn.Module):
  width: int = 4
  depth: int = 3

  @nn.compact
  def __call__(self, x):
    down = [Block(self.width)]
    ch = self.width
    for _ in range(self.depth - 1):
      down.append(Block(ch * 2))
      ch *= 2
    block = Block(ch * 2)
    ups, blocks = [], []
    for _ in range(self.depth - 1):
      ups.append(Up(ch))
      blocks.append(Block(ch))
      ch //= 2
    ups.append(Up(ch))
    blocks.append(Block(ch))
    kept = []
    for layer in down:
      x = layer(x)
      kept.append(x)
      x = nn.avg_pool(x, (2, 2), (2, 2))
    x = block(x)
    for up, block in zip(ups, blocks):
      skip = kept.pop()
      x = jnp.concatenate((up(x), skip), axis=-1)
      x = block(x)
    return nn.Conv(1, (1, 1))(x)


CASES: list[Any] = [
  ('Behind', dict(), [(2, 8, 8, 3)], dict()),
  ('Behind', dict(width=3, depth=1), [(2, 8, 8, 3)], dict()),
  ('Ahead', dict(), [(2, 8, 8, 3)], dict()),
  ('Pairs', dict(), [(2, 8, 8, 3)], dict()),
  ('UnderConditions', dict(), [(2, 8, 8, 3)], dict()),
  ('UnderConditions', dict(doubles=False), [(2, 8, 8, 3)], dict()),
  ('Numbered', dict(), [(2, 8, 8, 3)], dict()),
  ('From', dict(), [(2, 8, 8, 3)], dict()),
  ('Ups', dict(), [(2, 4, 4, 3)], dict()),
  ('Ups', dict(depth=1), [(2, 4, 4, 3)], dict()),
  ('UNet', dict(), [(2, 8, 8, 3)], dict()),
  ('UNet', dict(depth=2, width=5), [(2, 8, 8, 3)], dict()),
]
