"""Keywords that a class gives on to a module that it is handed, which knows them as the call of the class does; `CASES` as
in forms_basic."""

from collections.abc import Callable

from flax import linen as nn


class PreNorm(nn.Module):
  fn: Callable
  @nn.compact
  def __call__(self, x, **kwargs):
    return self.fn(nn.LayerNorm()(x), **kwargs)


class Residual(nn.Module):
  fn: Callable
  @nn.compact
  def __call__(self, x, **kwargs):
    return self.fn(x, **kwargs) + x


class Keeps(nn.Module):
  fn: Callable
  @nn.compact
  def __call__(self, x, context=None, **kwargs):
    return self.fn(nn.LayerNorm()(x), **kwargs)


class Mix(nn.Module):
  dim: int
  @nn.compact
  def __call__(self, x, context=None, doubled: bool = True):
    y = nn.Dense(self.dim)(x)
    if context is not None:
      y = y + nn.Dense(self.dim)(context)
    return y * 2 if doubled else y


class Given(nn.Module):
  @nn.compact
  def __call__(self, x, other):
    return Residual(PreNorm(Mix(4)))(x, context=other, doubled=False)


class NotGiven(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Residual(PreNorm(Mix(4)))(x)


class Kept(nn.Module):
  @nn.compact
  def __call__(self, x, other):
    return Keeps(Mix(4))(x, context=other)


class Twice(nn.Module):
  @nn.compact
  def __call__(self, x, other):
    block = PreNorm(Mix(4))
    x = block(x, context=other)
    return block(x, context=2 * other)


class InSetup(nn.Module):
  def setup(self):
    self.blocks = [PreNorm(Mix(4)) for _ in range(2)]
  def __call__(self, x, other):
    for block in self.blocks:
      x = block(x, context=other)
    return x


class Optional(nn.Module):
  depth: int = 2
  @nn.compact
  def __call__(self, x, context=None):
    layers = []
    for _ in range(self.depth):
      layers.append((PreNorm(Mix(4)), PreNorm(Mix(5))))
    for cross, own in layers:
      x = own(cross(x, context=context))
    return x


CASES = [
    ("Optional", {}, [(2, 5, 4), (2, 5, 3)], {}),
    ("Optional", {}, [(2, 5, 4)], {"context": None}),
    ("Given", {}, [(2, 5, 4), (2, 5, 3)], {}),
    ("NotGiven", {}, [(2, 5, 4)], {}),
    ("Kept", {}, [(2, 5, 4), (2, 5, 3)], {}),
    ("Twice", {}, [(2, 5, 4), (2, 5, 3)], {}),
    ("InSetup", {}, [(2, 5, 4), (2, 5, 3)], {}),
]
