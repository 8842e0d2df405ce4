"""Lists of which every pass of a comprehension adds several items: `[layer for width in widths for layer in (...)]`."""

from typing import Any

import flax.linen as nn


class InSequential(nn.Module):
  hidden: Any = (6, 5)
  def setup(self):
    self.net = nn.Sequential([l for h in self.hidden for l in (nn.Dense(h), nn.relu)])
    self.o = nn.Dense(2)
  def __call__(self, x):
    return self.o(self.net(x))


class InCompact(nn.Module):
  hidden: Any = (6, 5)
  @nn.compact
  def __call__(self, x):
    x = nn.Sequential([l for h in self.hidden for l in (nn.Dense(h), nn.relu)])(x)
    return nn.Dense(2)(x)


class WithALast(nn.Module):
  hidden: Any = (6, 5)
  out: int = 3
  def setup(self):
    self.net = nn.Sequential([l for h in self.hidden for l in [nn.Dense(h), nn.LayerNorm(), nn.tanh]] + [nn.Dense(self.out)])
  def __call__(self, x):
    return self.net(x)


class OfSetup(nn.Module):
  hidden: Any = (6, 5)
  def setup(self):
    self.ls = [l for h in self.hidden for l in (nn.Dense(h), nn.relu)]
  def __call__(self, x):
    for l in self.ls:
      x = l(x)
    return x


class AppendedTo(nn.Module):
  n: int = 2
  def setup(self):
    layers = [l for i in range(self.n) for l in (nn.Dense(4), nn.relu)]
    layers.append(nn.Dense(2))
    self.net = nn.Sequential(layers)
  def __call__(self, x):
    return self.net(x)


class Starred(nn.Module):
  hidden: Any = (6, 5)
  out: int = 3
  @nn.compact
  def __call__(self, x):
    return nn.Sequential([*[l for h in self.hidden for l in (nn.Dense(h), nn.relu)], nn.Dense(self.out)])(x)


class Numbers(nn.Module):
  hidden: Any = (6, 5)
  @nn.compact
  def __call__(self, x):
    ws = [w for h in self.hidden for w in (h, h + 1)]
    for w in ws:
      x = nn.Dense(w)(x)
    return x


CASES = [
  ("InSequential", {}, [(2, 4)], {}),
  ("InCompact", {}, [(2, 4)], {}),
  ("WithALast", {}, [(2, 4)], {}),
  ("OfSetup", {}, [(2, 4)], {}),
  ("AppendedTo", {}, [(2, 4)], {}),
  ("Starred", {}, [(2, 4)], {}),
  ("Numbers", {}, [(2, 4)], {}),
]
