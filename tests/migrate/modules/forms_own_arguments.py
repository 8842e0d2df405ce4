"""Lines of `setup` that give a field the name that it has already; `CASES` as in forms_basic."""

from typing import Any

import flax.linen as nn


class Settings:
  width = 4
  depth = 2


class Plain(nn.Module):
  """Several on one line, one behind other statements, comments between."""
  config: Any
  width: int = 3
  depth: int = 2

  def setup(self):
    """What it makes."""
    config = self.config; width = self.width
    # the head
    self.head = nn.Dense(width + config.width)
    depth = self.depth
    self.blocks = [nn.Dense(width) for _ in range(depth)]

  def __call__(self, x):
    for block in self.blocks:
      x = block(x)
    return self.head(x)


class Remarked(nn.Module):
  width: int = 3

  def setup(self):
    # first
    width = self.width  # a remark that stays
    self.head = nn.Dense(width)

  def __call__(self, x):
    return self.head(x)


class Rebound(nn.Module):
  """The local name becomes something else later on; the field does not."""
  width: int = 3
  depth: int = 3

  def setup(self):
    width = self.width
    depth = self.depth

    width = width + 1
    self.head = nn.Dense(width)
    self.tail = nn.Dense(depth)

  def __call__(self, x):
    return self.tail(self.head(x)) * self.width


class ReboundBefore(nn.Module):
  """The local name held something else before."""
  width: int = 3

  def setup(self):
    width = 7
    self.head = nn.Dense(width)
    width = self.width
    self.tail = nn.Dense(width)

  def __call__(self, x):
    return self.tail(self.head(x))


class Helped(nn.Module):
  """A method is called first, which sets attributes."""
  width: int = 3

  def setup(self):
    self.fill()
    width = self.width
    self.head = nn.Dense(width)

  def fill(self):
    self.scale = 2 * self.width

  def __call__(self, x):
    return self.head(x) * self.scale


class Base(nn.Module):
  width: int = 3

  def setup(self):
    width = self.width
    self.head = nn.Dense(width)

  def __call__(self, x):
    return self.head(x)


class Derived(Base):
  depth: int = 2

  def setup(self):
    width = self.width
    depth = self.depth
    super().setup()
    self.tail = nn.Dense(width * depth)

  def __call__(self, x):
    return self.tail(super().__call__(x))


class Frozen(nn.Module):
  """A list that a field is given is a tuple."""
  sizes: Any = (2, 3)

  def setup(self):
    sizes = self.sizes
    wide = sizes + (4,)
    self.head = nn.Dense(wide[0])
    self.tail = nn.Dense(wide[-1])

  def __call__(self, x):
    return self.tail(self.head(x))


CASES = [
  ('Plain', dict(config=Settings), [(2, 3)], {}),
  ('Remarked', dict(width=4), [(2, 3)], {}),
  ('Rebound', dict(width=4), [(2, 3)], {}),
  ('ReboundBefore', dict(width=4), [(2, 3)], {}),
  ('Helped', dict(width=4), [(2, 3)], {}),
  ('Derived', dict(width=4), [(2, 3)], {}),
  ('Frozen', dict(sizes=[5, 6]), [(2, 3)], {}),
]
