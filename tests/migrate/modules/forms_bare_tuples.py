"""Tuples without parentheses, which only a statement may be, where the rewrite needs an argument; `CASES` as in forms_basic."""

import flax.linen as nn
import jax.numpy as jnp


class Defaults(nn.Module):
  widths: tuple = 4, 8
  window: tuple = (3, 3)
  pairs: tuple = (1, 1), (2, 1)
  @nn.compact
  def __call__(self, x):
    strides = 1, 1
    for width in self.widths:
      x = nn.Conv(width, self.window, strides=strides)(x)
    return nn.Conv(2, self.pairs[1], strides=self.pairs[0])(x)


class Inherited(Defaults):
  last: tuple = 3, *(5, 6)
  @nn.compact
  def __call__(self, x):
    for width in self.last:
      x = nn.Dense(width)(x)
    return x


class Looped(nn.Module):
  wide: int = 8
  @nn.compact
  def __call__(self, x):
    for width in 4, self.wide:
      x = nn.Dense(width)(x)
    return x


class LoopedPairs(nn.Module):
  @nn.compact
  def __call__(self, x):
    outs = []
    for (width, bias), act in ((2, True), nn.relu), ((3, False), nn.tanh):
      outs.append(act(nn.Dense(width, use_bias=bias)(x)))
    return jnp.concatenate(outs, -1)


class OfSetup(nn.Module):
  def setup(self):
    self.scales = jnp.ones((3,)), jnp.full((3,), 2.0)
    self.body = nn.Dense(3)
    self.heads = nn.Dense(2), nn.Dense(4)
    both = nn.Dense(2), nn.Dense(4)
    self.again = both
    self.named = {'a': nn.Dense(2)}, nn.Dense(3)
  def __call__(self, x):
    x = self.body(x) * self.scales[0] + self.scales[1]
    for head in self.heads:
      x = head(x)
    for head in self.again[0], self.again[1]:
      x = head(x)
    return self.named[1](self.named[0]['a'](x))


class Filled(nn.Module):
  def setup(self):
    layers = []
    for width in 4, 8:
      layers.append(nn.Dense(width))
    self.layers = layers
    more = [nn.Dense(2), nn.Dense(3)]
    self.more = more[1], more[0]
  def __call__(self, x):
    for layer in self.layers:
      x = layer(x)
    return self.more[1](self.more[0](x))


CASES = [
  ('Defaults', {}, [(2, 6, 6, 3)], {}),
  ('Defaults', dict(widths=(2, 3, 5)), [(2, 6, 6, 3)], {}),
  ('Inherited', {}, [(2, 3)], {}),
  ('Looped', {}, [(2, 3)], {}),
  ('LoopedPairs', {}, [(2, 3)], {}),
  ('OfSetup', {}, [(2, 3)], {}),
  ('Filled', {}, [(2, 3)], {}),
]
