"""Modules whose sizes the call computes from shapes that no reading shows; `CASES` as in forms_basic."""

from typing import Any, Callable
import jax
import jax.numpy as jnp
from flax import linen as nn


def leaves(x):
  return jax.tree.leaves({'a': x, 'b': x * 2})


class Grid(nn.Module):
  """A field for each size that the caller sees."""
  height: int
  width: int
  channel: int
  num: int = 2
  kernel_init: Callable = nn.initializers.lecun_normal()
  @nn.compact
  def __call__(self, features):
    shape = (self.height, self.width, self.channel, self.num)
    kernel = self.param('kernel', self.kernel_init, shape)
    y = jnp.sum(jnp.expand_dims(features, -1) * jnp.expand_dims(kernel, 0), axis=(1, 2))
    return y.reshape(y.shape[0], -1)


class Encoder(nn.Module):
  """Sizes that are unpacked from a part of a shape."""
  blocks: int = 3
  learned: bool = True
  @nn.compact
  def __call__(self, x):
    x = leaves(x)[0]
    x = nn.Conv(4, (3, 3), strides=2)(x)
    x = leaves(x)[1]
    if self.learned:
      height, width, channel = x.shape[len(x.shape) - 3:]
      x = Grid(height=height, width=width, channel=channel, num=self.blocks)(x)
    else:
      x = x.mean((1, 2))
    return nn.Dense(3)(x)


class Wide(nn.Module):
  """Features of a layer that follow what it is given."""
  @nn.compact
  def __call__(self, x):
    h = leaves(x)[0]
    n = 2 * h.shape[-1]
    h = nn.relu(nn.Dense(n)(h))
    n = h.shape[-1] // 4
    dense = nn.Dense(features=n + 1, name='out')
    return dense(h) + dense(h * 2)


class Renamed(nn.Module):
  """A name of the call that is the constructor's, too."""
  features: int = 2
  @nn.compact
  def __call__(self, x):
    h = leaves(x)[0]
    features = h.shape[-1] * self.features
    h = nn.Dense(features)(h)
    inputs = h.shape[-1]
    h = nn.Dense(inputs + 1)(h)
    features = 7
    return h * features


class Residual(nn.Module):
  """In a class of the project, and in a loop over the blocks."""
  @nn.compact
  def __call__(self, x):
    for part in leaves(x)[:1]:
      x = part
    y = nn.Dense(x.shape[-1])(nn.LayerNorm()(x))
    return x + y


def grown(n, blocks, rate):
  n += blocks * rate
  return int(n // 2)


class Transition(nn.Module):
  num: int
  bias: bool = True
  @nn.compact
  def __call__(self, x, train):
    x = nn.relu(nn.BatchNorm(use_running_average=not train)(x))
    return nn.Dense(self.num, use_bias=self.bias)(x)


class Dense(nn.Module):
  """A number that a function computes for each pass of a loop."""
  rate: int = 4
  @nn.compact
  def __call__(self, x, train: bool = False):
    def blocks(h, n):
      for _ in range(n):
        h = jnp.concatenate([h, nn.Dense(self.rate)(h)], -1)
      return h
    num = 2 * self.rate
    x = nn.Dense(num)(x)
    for i in range(3):
      x = blocks(x, i + 1)
      num = grown(num, i + 1, self.rate)
      x = Transition(num, bias=False)(x, train=train)
    return nn.Dense(2)(x)


class Around(nn.Module):
  @nn.compact
  def __call__(self, x):
    x = Residual()(x)
    x = Wide()(nn.Dense(5)(x))
    return Renamed(3)(Residual()(x))


class Pixels(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Encoder(1)(x) + Encoder(2)(x)


class Grouped(nn.Module):
  """Groups of a norm by the width of what it is called with."""
  most: int = 4
  @nn.compact
  def __call__(self, x):
    h = leaves(x)[0]
    h = nn.GroupNorm(num_groups=min(h.shape[-1] // 2, self.most))(h)
    h = nn.Dense(2 * h.shape[-1])(nn.relu(h))
    h = nn.GroupNorm(max(int(h.shape[-1] / 4), 2), epsilon=1e-5)(h)
    h = nn.GroupNorm(num_groups=None, group_size=h.shape[-1] // 2)(h)
    return nn.Dense(h.shape[-1])(leaves(h)[1])


class Merger(nn.Module):
  output_channels: int

  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.output_channels)(x)


class MergedLayers(nn.Module):
  """What says a module with a size of the call is longer than a line."""
  heights: dict[str, int]

  @nn.compact
  def __call__(self, x):
    heights = {place: height for place, height in self.heights.items()}
    for layer in range(2):
      merged = []
      start = 0
      for place in heights:
        height = heights[place]
        h = x[:, start:start + height, :]
        start = start + height
        if height > 1:
          h = Merger(output_channels=h.shape[-1], name=f'merger_of_the_layers_{layer}_{place}')(h)
          heights[place] = height // 2
        merged.append(h[:, :heights[place]])
      x = jnp.concatenate(merged, axis=1)
    return x


CASES: list[Any] = [
    ('MergedLayers', dict(heights={'a': 4, 'b': 3}), [(2, 7, 6)], dict()),
    ('Encoder', dict(), [(2, 6, 6, 3)], dict()),
    ('Encoder', dict(learned=False), [(2, 6, 6, 3)], dict()),
    ('Grouped', dict(), [(2, 3, 8)], dict()),
    ('Grouped', dict(most=2), [(2, 4)], dict()),
    ('Wide', dict(), [(2, 6)], dict()),
    ('Wide', dict(), [(2, 3, 6)], dict()),
    ('Renamed', dict(), [(2, 6)], dict()),
    ('Residual', dict(), [(2, 6)], dict()),
    ('Dense', dict(), [(2, 3)], dict()),
    ('Dense', dict(rate=3), [(2, 3)], dict(train=True)),
    ('Around', dict(), [(2, 6)], dict()),
    ('Pixels', dict(), [(2, 6, 6, 3)], dict()),
]
