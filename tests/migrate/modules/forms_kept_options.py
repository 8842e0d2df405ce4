"""Keywords in dicts that fields, config objects and attributes of `setup` hold: `nn.Conv(8, (3, 3), **self.options)`."""

import dataclasses
import functools
from typing import Any, Sequence

import flax.linen as nn
import jax.numpy as jnp
from flax.core import FrozenDict


class Base(nn.Module):
  size: int
  norm: bool = True
  def setup(self):
    init = nn.initializers.ones
    self.layer = None
    self.layer_kwargs = {"use_bias": not self.norm, "kernel_init": init, "dtype": jnp.float32}
    self.ln = nn.LayerNorm() if self.norm else None
  def __call__(self, x):
    x = self.layer(x)
    if self.ln is not None:
      x = self.ln(x)
    return nn.relu(x)

class Conv(Base):
  kernel: Sequence[int] = (3, 3)
  strides: Sequence[int] = (2, 2)
  def setup(self):
    super().setup()
    self.layer = nn.Conv(self.size, self.kernel, strides=self.strides, **self.layer_kwargs)

class Up(Base):
  kernel: Sequence[int] = (3, 3)
  def setup(self):
    super().setup()
    self.layer = nn.ConvTranspose(self.size, self.kernel, strides=(2, 2), **self.layer_kwargs)

class Net(nn.Module):
  @nn.compact
  def __call__(self, x):
    x = Conv(4)(x)
    x = Conv(2, norm=False)(x)
    x = Up(3)(x)
    return nn.Dense(2)(x.reshape(x.shape[0], -1))

class Given(nn.Module):
  conv_kwargs: Any = FrozenDict({})
  @nn.compact
  def __call__(self, x):
    x = nn.Conv(4, (3, 3), **self.conv_kwargs)(x)
    return nn.Dense(2)(x)


@dataclasses.dataclass
class Config:
  kernel: int = 3
  conv_kwargs: dict = dataclasses.field(default_factory=dict)

class Causal(nn.Module):
  config: Config
  @nn.compact
  def __call__(self, x):
    d = x.shape[-1]
    x = nn.Conv(features=d, kernel_size=(self.config.kernel,), padding="VALID", feature_group_count=d, name="conv", **self.config.conv_kwargs)(x)
    return nn.Dense(d)(x)

class Normed(nn.Module):
  """A norm takes what NNX's takes in the same sense."""
  def setup(self):
    self.kw = {"use_bias": False}
    self.norm = nn.LayerNorm(**self.kw)
  def __call__(self, x):
    return self.norm(x)

class Partial(nn.Module):
  kw: Any = FrozenDict({})
  @nn.compact
  def __call__(self, x):
    conv = functools.partial(nn.Conv, kernel_size=(3, 3), **self.kw)
    return nn.Dense(2)(conv(2)(conv(4)(x)))

class Keys(nn.Module):
  """A method of its own takes more keywords than it names."""
  size: int
  def part(self, use_bias=False, **kwargs):
    return nn.Dense(use_bias=use_bias, **kwargs)
  @nn.compact
  def __call__(self, x):
    x = self.part(features=self.size, name="a")(x)
    return self.part(features=self.size + 1, name="b", use_bias=True)(x)

class Chosen(nn.Module):
  """Options that a field chooses, which change no width."""
  halve: bool = False
  @nn.compact
  def __call__(self, x):
    kw = {"strides": 2} if self.halve else {}
    return nn.Dense(3)(nn.Conv(4, (3, 3), **kw)(x))

IMAGE = (2, 8, 8, 3)
STRIDED = FrozenDict({"strides": 2, "use_bias": False, "padding": "VALID"})
CASES = [
  ("Conv", {"size": 3}, [IMAGE], {}),
  ("Conv", {"size": 3, "norm": False}, [IMAGE], {}),
  ("Up", {"size": 3}, [IMAGE], {}),
  ("Chosen", {}, [IMAGE], {}),
  ("Chosen", {"halve": True}, [IMAGE], {}),
  ("Net", {}, [IMAGE], {}),
  ("Given", {}, [IMAGE], {}),
  ("Given", {"conv_kwargs": STRIDED}, [IMAGE], {}),
  ("Partial", {}, [IMAGE], {}),
  ("Partial", {"kw": STRIDED}, [IMAGE], {}),
  ("Normed", {}, [(2, 3)], {}),
  ("Keys", {"size": 3}, [(2, 3)], {}),
  ("Causal", {"config": Config()}, [(2, 8, 3)], {}),
  ("Causal", {"config": Config(4, {"use_bias": False})}, [(2, 8, 3)], {}),
]
