"""Lists of `setup` that the call goes through but for the last item, which comes after."""

from typing import Any

import flax.linen as nn


class Plain(nn.Module):
  widths: Any = (4, 5, 6)

  def setup(self):
    self.layers = [nn.Dense(w) for w in self.widths]

  def __call__(self, x):
    for layer in self.layers[:-1]:
      x = nn.relu(layer(x))
    return self.layers[-1](x)


class Counted(nn.Module):
  widths: Any = (4, 5, 6)

  def setup(self):
    self.layers = [nn.Dense(w) for w in self.widths]
    self.out = nn.Dense(2)

  def __call__(self, x):
    for _, layer in enumerate(self.layers[:-1]):
      x = nn.relu(layer(x))
    x = self.layers[-1](x)
    return self.out(x)


class Inside(nn.Module):
  widths: Any = (4, 5, 6)

  def setup(self):
    self.net = Plain(self.widths)
    self.out = nn.Dense(2)

  def __call__(self, x):
    return self.out(self.net(x))


class Chosen(nn.Module):
  n: int = 3

  def setup(self):
    self.layers = [nn.Dense(4 if i < self.n - 1 else 2) for i in range(self.n)]

  def __call__(self, x):
    for layer in self.layers[:-1]:
      x = nn.relu(layer(x))
    return self.layers[-1](x)


class Appended(nn.Module):
  widths: Any = (4, 5, 6)

  def setup(self):
    layers = []
    for w in self.widths:
      layers.append(nn.Dense(w))
    self.layers = layers

  def __call__(self, x, twice=False):
    for layer in self.layers[:-1]:
      x = nn.relu(layer(x))
    y = self.layers[-1](x)
    return y if not twice else y * 2


class Twice(nn.Module):
  widths: Any = (4, 5, 6)

  def setup(self):
    self.layers = [nn.Dense(w) for w in self.widths]

  def __call__(self, x):
    for layer in self.layers[:-1]:
      x = nn.relu(layer(x))
    return self.layers[-1](x), self.layers[-1](x * 2)


CASES = [
  ("Plain", {}, [(2, 3)], {}),
  ("Counted", {}, [(2, 3)], {}),
  ("Inside", {}, [(2, 3)], {}),
  ("Chosen", {}, [(2, 3)], {}),
  ("Appended", {}, [(2, 3)], {}),
  ("Twice", {}, [(2, 3)], {}),
  ("Plain", {"widths": (5,)}, [(2, 3)], {}),
  ("Counted", {"widths": (5,)}, [(2, 3)], {}),
  ("Inside", {"widths": (5,)}, [(2, 3)], {}),
]
