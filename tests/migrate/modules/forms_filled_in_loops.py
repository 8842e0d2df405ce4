"""Lists that `setup` fills bit by bit: items before, in and after loops, several in every pass."""

from typing import Any

import flax.linen as nn
import jax.numpy as jnp


class Cat(nn.Module):
  def __call__(self, x):
    return jnp.concatenate([x, x], -1)


class Sequence(nn.Module):
  widths: Any = (4, 5, 6)

  def setup(self):
    layers = []
    for w in self.widths:
      layers.append(nn.Dense(w))
      layers.append(nn.relu)
    layers.append(nn.Dense(2))
    self.net = nn.Sequential(layers)

  def __call__(self, x):
    return self.net(x)


class Pairs(nn.Module):
  widths: Any = (4, 5, 6)

  def setup(self):
    layers = []
    for w in self.widths:
      layers.append(nn.Dense(w))
      layers.append(nn.Dense(w + 1))
    self.layers = layers

  def __call__(self, x):
    for layer in self.layers:
      x = nn.relu(layer(x))
    return x


class FirstAndMore(nn.Module):
  n: int = 3
  w: int = 4

  def setup(self):
    layers = [nn.Dense(self.w)]
    for _ in range(self.n):
      layers.append(nn.Dense(self.w))
    self.layers = layers

  def __call__(self, x):
    for layer in self.layers:
      x = nn.relu(layer(x))
    return x


class FirstApart(nn.Module):
  n: int = 3
  w: int = 4

  def setup(self):
    layers = [nn.Dense(self.w)]
    att = []
    for _ in range(self.n):
      att.append(nn.LayerNorm())
      layers.append(nn.Dense(self.w))
    self.layers = layers
    self.att = att

  def __call__(self, x):
    x = self.layers[0](x)
    for a, layer in zip(self.att, self.layers[1:]):
      x = nn.relu(layer(a(x)))
    return x


class Joined(nn.Module):
  n: int = 2
  w: int = 4

  def setup(self):
    self.layer = (nn.Dense(self.w),)
    self.layer += (nn.LayerNorm(),)
    self.layer = self.layer + (nn.Dense(3),)

  def __call__(self, x):
    return self.layer[-1](self.layer[1](self.layer[0](x)))


class Grown(nn.Module):
  n: int = 3

  def setup(self):
    layers = []
    for _ in range(self.n):
      layers += [nn.Dense(4)]
    self.layers = layers

  def __call__(self, x):
    for layer in self.layers:
      x = nn.relu(layer(x))
    return x


class TwoLoops(nn.Module):
  n: int = 3

  def setup(self):
    layers = []
    for _ in range(self.n):
      layers.append(nn.Dense(4))
    for _ in range(2):
      layers.append(nn.Dense(5))
    self.layers = layers

  def __call__(self, x):
    for layer in self.layers:
      x = nn.relu(layer(x))
    return x


class Counted(nn.Module):
  n: int = 3

  def setup(self):
    layers = []
    for i in range(self.n):
      layers.append(nn.Dropout(0.5, deterministic=True))
      layers.append(nn.Dense(4))
    layers.append(nn.Dense(7))
    self.layers = layers

  def __call__(self, x):
    for i, layer in enumerate(self.layers):
      x = layer(x)
    return x


class NormsAndHead(nn.Module):
  n: int = 3

  def setup(self):
    layers = []
    for i in range(self.n):
      layers.append(nn.LayerNorm())
    layers.append(nn.Dense(7))
    self.layers = layers

  def __call__(self, x):
    for layer in self.layers:
      x = layer(x)
    return x


class Doubled(nn.Module):
  n: int = 3

  def setup(self):
    layers = []
    for i in range(self.n):
      layers.append(Cat())
      layers.append(nn.Dense(4 + i))
    self.net = nn.Sequential(layers)
    self.out = nn.Dense(3)

  def __call__(self, x):
    return self.out(self.net(x))


class MixedSequence(nn.Module):
  widths: Any = (4, 5)

  def setup(self):
    layers = [nn.Dense(3)]
    for w in self.widths:
      layers += [nn.Dense(w), nn.LayerNorm(), nn.tanh]
    layers += [nn.Dense(2)]
    self.net = nn.Sequential(layers)

  def __call__(self, x):
    return self.net(x)


class LastApart(nn.Module):
  n: int = 2

  def setup(self):
    layers = [nn.Dense(4)]
    for w in range(self.n):
      layers.append(nn.Dense(4))
    layers.append(nn.Dense(2))
    self.layers = layers

  def __call__(self, x):
    for layer in self.layers[:-1]:
      x = nn.relu(layer(x))
    return self.layers[-1](x)


class EachAlone(nn.Module):
  n: int = 2

  def setup(self):
    layers = [nn.Dense(4)]
    for w in range(self.n):
      layers.append(nn.Dense(4))
    layers.append(nn.Dense(2))
    self.layers = layers

  def __call__(self, x):
    return [layer(x) for layer in self.layers]


class Concatenated(nn.Module):
  n: int = 2

  def setup(self):
    layers = []
    for w in range(self.n):
      layers.append(nn.Dense(4))
      layers.append(nn.Dense(6))
    self.layers = layers

  def __call__(self, x):
    for layer in self.layers:
      y = layer(x)
      x = jnp.concatenate([x, y], -1)
    return x


class WithFunctions(nn.Module):
  n: int = 2

  def setup(self):
    layers = []
    for w in range(self.n):
      layers.append(nn.Dense(4))
      layers.append(nn.relu)
    self.layers = layers

  def __call__(self, x):
    for layer in self.layers:
      x = layer(x)
    return x


class JoinedLoop(nn.Module):
  n: int = 2

  def setup(self):
    self.layers = [nn.Dense(4)] + [nn.Dense(4) for _ in range(self.n)]

  def __call__(self, x):
    for layer in self.layers:
      x = layer(x)
    return x


CASES = [
  ("Sequence", {}, [(2, 3)], {}),
  ("Pairs", {}, [(2, 3)], {}),
  ("FirstAndMore", {}, [(2, 3)], {}),
  ("FirstApart", {}, [(2, 3)], {}),
  ("Joined", {}, [(2, 3)], {}),
  ("Grown", {}, [(2, 3)], {}),
  ("TwoLoops", {}, [(2, 3)], {}),
  ("Counted", {}, [(2, 3)], {}),
  ("NormsAndHead", {}, [(2, 3)], {}),
  ("Doubled", {}, [(2, 3)], {}),
  ("MixedSequence", {}, [(2, 3)], {}),
  ("LastApart", {}, [(2, 3)], {}),
  ("EachAlone", {}, [(2, 3)], {}),
  ("Concatenated", {}, [(2, 3)], {}),
  ("WithFunctions", {}, [(2, 3)], {}),
  ("JoinedLoop", {}, [(2, 3)], {}),
  ("LastApart", {"n": 0}, [(2, 3)], {}),
  ("MixedSequence", {"widths": ()}, [(2, 3)], {}),
  ("MixedSequence", {"widths": (7, 8, 9)}, [(2, 3)], {}),
  ("Sequence", {"widths": (5,)}, [(2, 3)], {}),
]
