"""Objects of classes that are no modules, which make modules with variables for whoever calls them, or say no width."""

HEAD = """import lib
from flax import linen as nn


class Maker:
  def __init__(self, n):
    self.n = n

  def __call__(self, x):
    return nn.Dense(self.n)(x)

  def make(self):
    return nn.Dense(self.n)

  def pooled(self, x):
    if self.n > 2:
      return lib.pooled(x)
    return x

  def changed(self, x):
    return x[..., :self.n]

  def grow(self):
    self.n = 2 * self.n


def both(n):
  return nn.Dense(n) if n > 2 else nn.Dense(n, use_bias=False)


class M(nn.Module):
  n: int = 4
"""
COMPACT = "@nn.compact\ndef __call__(self, x):\n"
INDENT = 2  # of the bodies below

REFUSED = {
    "called": ("NNX135", COMPACT + "  return Maker(4)(x)"),
    "called between layers": ("NNX135", COMPACT + "  make = Maker(self.n)\n  return nn.Dense(3)(make(x))"),
    "an object of setup": ("NNX135", "def setup(self):\n  self.make = Maker(4)\n\n" + COMPACT + "  return self.make(x)"),
    "a layer made in setup": (
        "NNX135",
        "def setup(self):\n  self.layer = Maker(4).make()\n\ndef __call__(self, x):\n  return self.layer(x)",
    ),
    "a way that gives back what it was given": (
        "NNX110",
        COMPACT + "  return nn.Dense(3)(Maker(self.n).pooled(nn.Dense(6)(x)))",
    ),
    "a size that a method changes": ("NNX110", COMPACT + "  return nn.Dense(3)(Maker(self.n).changed(x))"),
}
