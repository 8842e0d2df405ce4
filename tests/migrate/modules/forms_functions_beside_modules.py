"""A layer or a function in one attribute, by a condition of the fields."""
from typing import Optional
import flax.linen as nn

ACTIVATIONS = {"relu": nn.relu, "silu": nn.silu}

class Same(nn.Module):
  @nn.compact
  def __call__(self, x):
    return x

class ConvUnit(nn.Module):
  width: int
  kernel: int = 3
  activation: Optional[str] = "relu"
  def setup(self):
    self.conv = nn.Conv(self.width, (self.kernel, self.kernel))
    self.act = ACTIVATIONS[self.activation] if self.activation is not None else Same()
  def __call__(self, x):
    return self.act(self.conv(x))

class Units(nn.Module):
  width: int = 4
  def setup(self):
    self.units = [ConvUnit(self.width), ConvUnit(2 * self.width, activation=None)]
    self.head = nn.Dense(3)
  def __call__(self, x):
    for unit in self.units:
      x = unit(x)
    return self.head(x.mean((1, 2)))

class MaybeProjected(nn.Module):
  width: int = 8
  project: bool = True
  def setup(self):
    self.proj = nn.Dense(self.width) if self.project else lambda x: x
    self.norm = nn.LayerNorm()
    self.head = nn.Dense(3)
  def __call__(self, x):
    return self.head(self.norm(self.proj(x)))

class CompactChoice(nn.Module):
  width: int = 8
  learned: bool = True
  @nn.compact
  def __call__(self, x):
    x = nn.Dense(self.width)(x)
    act = nn.PReLU() if self.learned else nn.relu
    return nn.Dense(3)(act(x))

class Chosen(nn.Module):
  width: int = 8
  wide: bool = True
  def setup(self):
    if self.wide:
      self.proj = nn.Dense(self.width)
    else:
      self.proj = nn.relu
    self.head = nn.Dense(3)
  def __call__(self, x):
    return self.head(self.proj(x))

CASES = [
  ("Units", {}, [(2, 4, 4, 3)], {}),
  ("MaybeProjected", {}, [(2, 5)], {}),
  ("MaybeProjected", {"project": False}, [(2, 5)], {}),
  ("CompactChoice", {}, [(2, 5)], {}),
  ("CompactChoice", {"learned": False}, [(2, 5)], {}),
  ("Chosen", {}, [(2, 5)], {}),
  ("Chosen", {"wide": False}, [(2, 5)], {}),
]
