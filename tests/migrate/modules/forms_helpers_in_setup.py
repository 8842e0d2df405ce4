"""Helper functions outside of classes that return one new module, called in `setup`."""

import functools
from typing import Any

import flax.linen as nn
import jax.numpy as jnp

WIDE = 3
Plain = functools.partial(nn.Dense, use_bias=False)


def make_dense(features, bias=True):
  """A layer with or without a bias."""
  return nn.Dense(features, use_bias=bias)


def make_wide(features, init=nn.initializers.normal(0.1)):
  layer = nn.Dense(features * WIDE, kernel_init=init)
  return layer


def make_twice(features):
  return make_dense(features * 2, bias=False)


def make_plain(features):
  return Plain(features)


def make_kind(kind, features):
  return kind(features)


def make_conv(features, size, dtype=jnp.float32):
  return nn.Conv(features, (size, size), padding="SAME", dtype=dtype)


def make_norm(momentum):
  return nn.BatchNorm(momentum=momentum)


class Block(nn.Module):
  width: int
  rate: float = 0.0

  @nn.compact
  def __call__(self, x, train=False):
    x = nn.Dense(self.width)(x)
    return nn.Dropout(self.rate)(x, deterministic=not train)


class Plus(nn.Module):
  inner: nn.Module

  def __call__(self, x):
    return self.inner(x) + 1


def make_block(width, rate):
  return Block(width=width, rate=rate)


def make_plus(inner):
  return Plus(inner)


class Heads(nn.Module):
  n: int = 4

  def setup(self):
    n = self.n + 1
    self.first = make_dense(n)
    n = self.n + 2
    self.second = make_dense(features=n, bias=False)
    self.third = make_wide(self.n)
    self.fourth = make_twice(self.n)
    self.fifth = make_plain(5)
    self.sixth = make_kind(nn.Dense, self.n)
    self.plus = make_plus(self.sixth)

  def __call__(self, x):
    x = self.fifth(self.fourth(self.third(self.second(self.first(x)))))
    return self.plus(x)


class Listed(nn.Module):
  widths: Any = (4, 5, 6)

  def setup(self):
    self.layers = [make_dense(w) for w in self.widths]
    more = []
    for w in self.widths:
      more.append(make_dense(w + 1))
    self.more = more
    self.a, self.b = make_dense(1), make_dense(4)

  def __call__(self, x):
    for layer in self.layers:
      x = nn.relu(layer(x))
    for layer in self.more:
      x = layer(x)
    return self.a(x) + self.b(x)


class Chosen(nn.Module):
  n: int = 4
  use: bool = True

  def setup(self):
    if self.use:
      self.head = make_dense(self.n)
    else:
      self.head = make_dense(2 * self.n)
    self.extra = make_dense(self.n) if self.use else None
    self.named = {"a": make_dense(2), "b": make_dense(3)}

  def __call__(self, x):
    x = self.head(x)
    if self.use:
      x = self.extra(x)
    return self.named["b"](self.named["a"](x))


class Images(nn.Module):
  n: int = 4

  def setup(self):
    self.conv = make_conv(self.n, 3)
    self.norm = make_norm(0.9)
    self.block = make_block(self.n, 0.5)
    self.net = nn.Sequential([make_dense(3), nn.relu, make_dense(5)])

  def __call__(self, x, train=False):
    x = self.norm(self.conv(x), use_running_average=not train)
    return self.net(self.block(x, train=train))


class Derived(Heads):
  def setup(self):
    super().setup()
    self.last = make_dense(2)

  def __call__(self, x):
    return self.last(super().__call__(x))


class Compact(nn.Module):
  n: int = 4

  @nn.compact
  def __call__(self, x):
    return make_plain(3)(make_plain(self.n)(x))


CASES = [
  ("Heads", {}, [(2, 3)], {}),
  ("Heads", {"n": 2}, [(2, 5, 3)], {}),
  ("Listed", {}, [(2, 3)], {}),
  ("Chosen", {}, [(2, 3)], {}),
  ("Chosen", {"use": False}, [(2, 3)], {}),
  ("Images", {}, [(2, 4, 4, 3)], {}),
  ("Derived", {}, [(2, 3)], {}),
  ("Compact", {}, [(2, 3)], {}),
]
