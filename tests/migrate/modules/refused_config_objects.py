"""Config objects that change, once they are made, or after a module was given them: Linen's modules see that when called."""

HEAD = """import copy
from dataclasses import dataclass
from typing import Any, Sequence
from flax import linen as nn


@dataclass
class Config:
  size: int = 4
  bias: bool = True

  def grow(self):
    self.size += 2


def adjust(config):
  config.size = config.size + 3


class Inner(nn.Module):
  config: Any

  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.config.size)(x)


class Mlp(nn.Module):
  dims: Sequence[int]

  @nn.compact
  def __call__(self, x):
    for dim in self.dims:
      x = nn.Dense(dim)(x)
    return x


class M(nn.Module):
  size: int = 3
  config: Any = None

"""
INDENT = 2
REFUSED = {
    "changed by another name": (
        "NNX113",
        """@nn.compact
def __call__(self, x):
  config = Config(size=self.size)
  other = config
  other.size = 5
  return nn.Dense(config.size)(Inner(config)(x))
""",
    ),
    "changed by a function": (
        "NNX113",
        """@nn.compact
def __call__(self, x):
  config = Config(size=self.size)
  adjust(config)
  return nn.Dense(config.size)(Inner(config)(x))
""",
    ),
    "changed by its own method": (
        "NNX113",
        """@nn.compact
def __call__(self, x):
  config = Config(size=self.size)
  config.grow()
  return nn.Dense(config.size)(Inner(config)(x))
""",
    ),
    "read before it is changed": (
        "NNX113",
        """@nn.compact
def __call__(self, x):
  config = Config(bias=False)
  size = config.size
  config.size = 8
  return Inner(config)(nn.Dense(size)(x))
""",
    ),
    "changed under a condition": (
        "NNX113",
        """@nn.compact
def __call__(self, x):
  config = Config(size=self.size)
  if self.size > 2:
    config.size = 7
  return nn.Dense(config.size)(Inner(config)(x))
""",
    ),
    "changed after it was given to a part of setup": (
        "NNX113",
        """def setup(self):
  config = copy.deepcopy(self.config)
  self.a = Inner(config)
  config.size = 9
  self.b = Inner(config)
def __call__(self, x):
  return self.b(self.a(x))
""",
    ),
    "changed before the part is called": (
        "NNX113",
        """@nn.compact
def __call__(self, x):
  config = copy.deepcopy(self.config)
  a = Inner(config)
  config.size = 9
  b = Inner(config)
  return b(a(x))
""",
    ),
    "a list that grows after it was given": (
        "NNX113",
        """def setup(self):
  dims = [3]
  self.a = Mlp(dims)
  dims.append(4)
  self.b = Mlp(dims)
def __call__(self, x):
  return self.b(self.a(x))
""",
    ),
    "changed by every pass of a loop of setup": (
        "NNX113",
        """def setup(self):
  config = copy.deepcopy(self.config)
  parts = []
  for i in range(3):
    config.size = self.size + i
    parts.append(Inner(config))
  self.parts = parts
def __call__(self, x):
  return nn.Sequential(self.parts)(x)
""",
    ),
}
