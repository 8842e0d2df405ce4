"""Compact methods that go through a list of `setup` and make more modules in every pass."""

from typing import Any

import jax.numpy as jnp
from flax import linen as nn


class Stack(nn.Module):
  features: int

  @nn.compact
  def __call__(self, x):
    return nn.max_pool(nn.Conv(self.features, (3, 3))(x), (3, 3), (2, 2), "SAME")


class Scaled(nn.Module):
  """A number of setup's own, another counter in the call, a dropout in between."""

  factor: int = 1
  widths: Any = (4, 8, 6)
  rate: Any = None

  def setup(self):
    widths = self.widths
    self.stacks = [Stack(features=widths[i] * self.factor) for i in range(len(widths))]
    if self.rate is not None:
      self.dropout = nn.Dropout(rate=self.rate)

  @nn.compact
  def __call__(self, x, cond, train=False):
    for number in range(len(self.stacks)):
      x = self.stacks[number](x)
      if self.rate is not None:
        x = self.dropout(x, deterministic=not train)
      scale = nn.Dense(x.shape[-1], kernel_init=nn.initializers.xavier_normal())(cond)
      x = x * jnp.expand_dims(jnp.expand_dims(scale, 1), 1)
    return nn.Dense(2)(x)


class Plain(nn.Module):
  widths: Any = (4, 8, 6)

  def setup(self):
    self.stacks = [Stack(width) for width in self.widths]

  @nn.compact
  def __call__(self, x):
    for stack in self.stacks:
      x = nn.LayerNorm()(stack(x))
    return nn.Dense(x.shape[-1])(x)


class Appended(nn.Module):
  widths: Any = (4, 8, 6)

  def setup(self):
    stacks = []
    for width in self.widths:
      stacks.append(Stack(width))
    self.stacks = stacks

  @nn.compact
  def __call__(self, x, train: bool = False):
    for i, stack in enumerate(self.stacks):
      x = nn.BatchNorm(use_running_average=not train)(stack(x))
    return x


class NamedByPass(nn.Module):
  widths: Any = (4, 8, 6)

  def setup(self):
    self.stacks = [Stack(width) for width in self.widths]

  @nn.compact
  def __call__(self, x):
    for i, stack in enumerate(self.stacks):
      x = nn.LayerNorm(name=f"norm_{i}")(stack(x))
      x = x * self.param(f"scale_{i}", nn.initializers.ones, (x.shape[-1],))
    return x


class NameOfField(nn.Module):
  """The loop of setup binds the name of a field, in a comprehension."""

  width: int = 5
  widths: Any = (4, 8, 6)

  def setup(self):
    self.stacks = [Stack(width) for width in self.widths]

  @nn.compact
  def __call__(self, x):
    for stack in self.stacks:
      x = nn.LayerNorm()(stack(x))
    return nn.Dense(self.width)(x)


class OneWidth(nn.Module):
  n: int = 3

  def setup(self):
    self.stem = nn.Dense(5)
    self.layers = [nn.Dense(5) for _ in range(self.n)]

  @nn.compact
  def __call__(self, x):
    x = self.stem(x)
    for i in range(len(self.layers)):
      x = x + nn.Dense(5)(nn.relu(self.layers[i](x)))
    return x


class Around(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(Plain((4, 5))(x))


X = (2, 16, 16, 3)
CASES = [
    ("Scaled", {}, [X, (2, 4)], {}),
    ("Scaled", {"rate": 0.1, "factor": 2}, [X, (2, 4)], {}),
    ("Scaled", {"widths": (5,)}, [X, (2, 4)], {}),
    ("Plain", {}, [X], {}),
    ("Plain", {"widths": (7,)}, [X], {}),
    ("Appended", {}, [X], {}),
    ("Appended", {}, [X], {"train": True}),
    ("NamedByPass", {}, [X], {}),
    ("NameOfField", {}, [X], {}),
    ("OneWidth", {}, [(2, 4)], {}),
    ("OneWidth", {"n": 1}, [(2, 4)], {}),
    ("Around", {}, [X], {}),
]
