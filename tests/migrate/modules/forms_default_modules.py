"""Fields that are a module unless they are given another, where that makes nothing: variables, modules or random numbers."""

import dataclasses

import flax.linen as nn
import jax.numpy as jnp


class ArrayInput(nn.Module):
  """As it is, or a part of it."""

  width: int = 2

  @nn.compact
  def __call__(self, x):
    return x[..., : self.width] if self.width < 3 else x


class Scaled(nn.Module):
  scale: float = 2.0

  def __call__(self, x, by=1.0):
    return x * self.scale * by

  def shifted(self, x):
    return x + self.scale


class Halves(nn.Module):
  """Gives more than one array."""

  parts: int

  def setup(self):
    self.axis = -1

  def __call__(self, x):
    return jnp.split(x, self.parts, axis=self.axis)


class Plain(nn.Module):
  width: int = 4
  input_layer: nn.Module = ArrayInput(3)

  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.width)(self.input_layer(x))


class WithArguments(nn.Module):
  scaled: nn.Module = Scaled(scale=3.0)
  again: nn.Module = dataclasses.field(default=Scaled(0.5))

  @nn.compact
  def __call__(self, x):
    x = self.again.shifted(self.scaled(nn.Dense(3)(x), by=2.0))
    return self.scaled(nn.Dense(5)(x))


class InSetup(nn.Module):
  first: nn.Module = Scaled(2.0)
  split: nn.Module = Halves(parts=2)

  def setup(self):
    self.dense = nn.Dense(4)

  def __call__(self, x):
    a, b = self.split(self.dense(self.first(x)))
    return a * b


class UnderConditions(nn.Module):
  doubled: bool = True
  scaled: nn.Module = Scaled(2.0)

  @nn.compact
  def __call__(self, x, train: bool = False):
    if self.doubled:
      x = self.scaled(x)
    for width in (3, 4):
      x = self.scaled(nn.Dense(width)(x))
    x = nn.BatchNorm(use_running_average=not train)(x)
    return x


class Doubled(nn.Module):
  """Made without arguments."""

  def __call__(self, x):
    return x * 2


class Simple(nn.Module):
  first: nn.Module = Doubled()

  @nn.compact
  def __call__(self, x):
    return nn.Dense(4)(self.first(x))


class Simples(nn.Module):
  @nn.compact
  def __call__(self, x):
    for _ in range(2):
      x = Simple()(x)
    return Simple()(x)


class Blocks(nn.Module):
  """Linen takes one copy of the default for all of these."""

  @nn.compact
  def __call__(self, x):
    for _ in range(2):
      x = Plain()(x)
    y = nn.remat(Plain)(3)(x)
    return UnderConditions(False)(jnp.concatenate([x, y], axis=-1))


class Mapped(nn.Module):
  """Lifted, each with a default of its own."""

  @nn.compact
  def __call__(self, x):
    many = nn.vmap(Plain, variable_axes={"params": 0}, split_rngs={"params": True}, in_axes=None, axis_size=3)
    return many(5)(x)


CASES = [
  ("Plain", {}, [(2, 3)], {}),
  ("WithArguments", {}, [(2, 3)], {}),
  ("InSetup", {}, [(2, 3)], {}),
  ("Blocks", {}, [(2, 3)], {}),
  ("Simples", {}, [(2, 3)], {}),
  ("Mapped", {}, [(2, 3)], {}),
  ("UnderConditions", {}, [(2, 3)], {"train": True}),
]
