"""Fields that hold functions and factories, handed on through several classes: a U-Net of blocks."""

import functools
from typing import Any, Callable
import flax.linen as nn
import jax.numpy as jnp


def upscale(x, scale=2):
  n, h, w, c = x.shape
  x = jnp.tile(x.reshape((n, h, 1, w, 1, c)), (1, 1, scale, 1, scale, 1))
  return x.reshape((n, h * scale, w * scale, c))


class Block(nn.Module):
  features: int
  conv: Any
  norm: Any

  @nn.compact
  def __call__(self, x):
    return nn.relu(self.norm()(self.conv(self.features, (3, 3))(x)))


class Blocks(nn.Module):
  count: int
  features: int
  conv: Any
  norm: Any

  @nn.compact
  def __call__(self, x):
    for _ in range(self.count):
      x = Block(self.features, conv=self.conv, norm=self.norm)(x)
    return x


class Up(nn.Module):
  features: int
  conv: Any
  norm: Any
  upfn: Callable

  @nn.compact
  def __call__(self, x):
    return self.upfn(nn.relu(self.norm()(self.conv(self.features, (3, 3))(x))))


class UNet(nn.Module):
  depth: int = 3
  features: int = 4
  scale: int = 2

  @nn.compact
  def __call__(self, x, train=False):
    conv = functools.partial(nn.Conv, use_bias=False)
    norm = functools.partial(nn.BatchNorm, use_running_average=not train)
    upfn = functools.partial(upscale, scale=self.scale)
    x = Blocks(2, self.features, conv=conv, norm=norm)(x)
    kept = []
    for i in range(self.depth - 1):
      kept.append(x)
      x = nn.max_pool(x, (2, 2), (2, 2))
      x = Blocks(1, 2 ** (i + 1) * self.features, conv=conv, norm=norm)(x)
    for i in reversed(range(self.depth - 1)):
      x = Up(2 ** i * self.features, conv=conv, norm=norm, upfn=upfn)(x)
      x = jnp.concatenate((kept[i], x), axis=3)
      x = Blocks(1, 2 ** i * self.features, conv=conv, norm=norm)(x)
    return conv(2, (1, 1))(x)


class Plain(nn.Module):
  dense: Any = nn.Dense

  @nn.compact
  def __call__(self, x):
    if hasattr(self, "normed"):
      dense = self.normed(self.dense)
    else:
      dense = self.dense
    return dense(3, name="hidden")(x)


class Bias(nn.Module):
  @nn.compact
  def __call__(self, n):
    return n * self.param("w", nn.initializers.ones, (3,))


class Given(nn.Module):
  shared: nn.Module

  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(x) + self.shared(2)


class Forgetful(nn.Module):
  """Names that the method forgets are bound until then, though only constructors read them."""

  @nn.compact
  def __call__(self, x):
    shared = Bias(name="rel")
    for i in range(2):
      x = Given(shared=shared, name=f"layer_{i}")(x)
    del shared
    width = x.shape[-1] * 2
    x = nn.Dense(width)(x)
    del width
    return x


CASES = [
  ("Forgetful", {}, [(2, 3)], {}),
  ("Plain", {}, [(2, 5)], {}),
  ("UNet", {}, [(1, 8, 8, 3)], {}),
  ("UNet", {"depth": 2}, [(1, 8, 8, 3)], {"train": True}),
]
