"""Modules that are there or None by a field: what asks for them by `is None` has the sizes of either case."""

import flax.linen as nn


class Chosen(nn.Module):
  n: int = 4
  use: bool = True
  more: bool = False

  def setup(self):
    self.proj = nn.Dense(self.n) if self.use else None
    self.head = nn.Dense(self.n)
    self.norm = nn.LayerNorm() if self.more else None

  def __call__(self, x):
    x = x if self.proj is None else self.proj(x)
    x = self.norm(x) if self.norm is not None else x
    return self.head(x)


class Branches(nn.Module):
  n: int = 4
  use: bool = True

  def setup(self):
    self.head = nn.Dense(self.n)
    if self.use:
      self.proj = nn.Dense(self.n)
    else:
      self.proj = None
    self.other = None
    if not self.use:
      self.other = nn.Dense(7)

  def __call__(self, x):
    if self.proj is not None:
      x = self.proj(x)
    if self.other:
      x = self.other(x)
    return self.head(x)


class TakenAway(nn.Module):
  n: int = 4
  use: bool = True

  def setup(self):
    self.proj = nn.Dense(self.n)
    if not self.use:
      self.proj = None
    if self.proj is not None:
      self.norm = nn.LayerNorm()
    self.head = nn.Dense(self.n)

  def __call__(self, x):
    if self.proj is None:
      return self.head(x)
    return self.head(self.norm(self.proj(x)))


class Compact(nn.Module):
  n: int = 4
  use: bool = True

  @nn.compact
  def __call__(self, x):
    proj = nn.Dense(self.n) if self.use else None
    if proj is not None:
      x = proj(x)
    if not proj:
      x = nn.Dense(6)(x)
    return nn.Dense(2)(x)


class Results(nn.Module):
  n: int = 4
  use: bool = True

  @nn.compact
  def __call__(self, x):
    y = nn.Dense(self.n)(x) if self.use else None
    there = y is not None
    if y is not None:
      x = x.sum(-1, keepdims=True) + nn.Dense(5)(y)
    if not there:
      x = nn.Dense(7)(x)
    return nn.Dense(2)(x)


class Given(nn.Module):
  @nn.compact
  def __call__(self, x, memory=None):
    proj = nn.Dense(4) if memory is None else None
    if proj is not None:
      x = proj(x)
    return nn.Dense(2)(x)


CASES = [
  ("Given", {}, [(2, 3)], {"memory": None}),
  ("Given", {}, [(2, 3), (2, 3)], {}),
  *[("Chosen", {"use": use, "more": more}, [(2, 3)], {}) for use in (True, False) for more in (True, False)],
  *[(name, {"use": use}, [(2, 3)], {}) for name in ("Branches", "TakenAway", "Compact", "Results") for use in (True, False)],
]
