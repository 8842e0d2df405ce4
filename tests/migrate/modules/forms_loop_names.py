"""Names of loops, and of numbers, that a rewritten constructor has to keep apart."""

from typing import Any

import flax.linen as nn


class SetupsOwnNext(nn.Module):
  n: int = 2
  def setup(self):
    next_features = 11
    d = 4
    ls = []
    for i in range(self.n):
      ls.append(nn.Dense(d))
      d = d * 2
    self.ls = ls
    self.out = nn.Dense(next_features)
  def __call__(self, x):
    for l in self.ls:
      x = l(x)
    return self.out(x)


class HiddenInCompact(nn.Module):
  widths: Any = (4, 6)
  @nn.compact
  def __call__(self, x):
    f = x.shape[-1] + 1
    ls = [nn.Dense(f) for f in self.widths]
    for l in ls:
      x = l(x)
    return nn.Dense(f)(x)


class LeakedAsInLinen(nn.Module):
  widths: Any = (4, 6)
  @nn.compact
  def __call__(self, x):
    w = 3
    for i, w in enumerate(self.widths):
      x = nn.Dense(w)(x)
    return nn.Dense(w)(x)


class CompactsOwnNext(nn.Module):
  n: int = 2
  @nn.compact
  def __call__(self, x):
    features = 3
    next_features = 5
    for i in range(self.n):
      x = nn.Dense(features)(x)
      features = features * 2
    return nn.Dense(next_features)(x)


class SetupsOwnLayers(nn.Module):
  widths: Any = (4, 6)
  def setup(self):
    layers = 3
    self.net = nn.Sequential([nn.Dense(f) for f in self.widths])
    self.o = nn.Dense(layers)
  def __call__(self, x):
    return self.o(self.net(x))


class HelperBehindTheList(nn.Module):
  widths: Any = (4, 6)
  def setup(self):
    self.a = [nn.Dense(f) for f in self.widths]
    self.b = self.make()
  def make(self):
    return nn.Dense(3)
  def __call__(self, x):
    for l in self.a:
      x = l(x)
    return self.b(x)


class TwoLoops(nn.Module):
  widths: Any = (4, 6)
  def setup(self):
    ls = []
    for f in self.widths:
      ls.append(nn.Dense(f))
    self.ls = ls
    ms = []
    for f in (3, 5):
      ms.append(nn.Dense(f))
    self.ms = ms
  def __call__(self, x):
    for l in self.ls:
      x = l(x)
    for m in self.ms:
      x = m(x)
    return x


class NormsButTheLast(nn.Module):
  n: int = 3
  def setup(self):
    self.ls = [nn.Dense(5) for _ in range(self.n)]
    self.ns = [nn.LayerNorm() for _ in range(self.n)]
  def __call__(self, x):
    for i, (l, m) in enumerate(zip(self.ls, self.ns)):
      x = l(x)
      if i < self.n - 1:
        x = m(x)
    return x


class SetBetween(nn.Module):
  ws: tuple = (4, 5)
  @nn.compact
  def __call__(self, x):
    ls = []
    for f in self.ws:
      ls.append(nn.Dense(f))
    f = 7
    for l in ls:
      x = l(x)
    return nn.Dense(f)(x)


class NamedFirstAndLast(nn.Module):
  dims: tuple = (4, 8, 3)
  last: bool = True
  @nn.compact
  def __call__(self, x):
    for i, d in enumerate(self.dims):
      if i == 0:
        x = nn.Dense(d, name="stem")(x)
        x = nn.LayerNorm(name="stem_norm")(x)
      elif i == len(self.dims) - 1 and self.last:
        x = nn.Dense(d, name="out")(x)
      else:
        x = nn.Dense(d, name=f"down_{i}")(x)
      x = x + nn.Dense(d)(x)
    return x


CASES = [
  ("NamedFirstAndLast", {}, [(2, 5)], {}),
  ("NamedFirstAndLast", {"last": False}, [(2, 5)], {}),
  ("SetupsOwnNext", {}, [(2, 5)], {}),
  ("HiddenInCompact", {}, [(2, 5)], {}),
  ("LeakedAsInLinen", {}, [(2, 5)], {}),
  ("CompactsOwnNext", {}, [(2, 5)], {}),
  ("SetupsOwnLayers", {}, [(2, 5)], {}),
  ("HelperBehindTheList", {}, [(2, 5)], {}),
  ("TwoLoops", {}, [(2, 5)], {}),
  ("NormsButTheLast", {}, [(2, 5)], {}),
  ("SetBetween", {}, [(2, 5)], {}),
]
