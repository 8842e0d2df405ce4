"""Widths that only the constructor of a submodule knows, as after a loop over a list: it is asked for them."""

from typing import Any, Sequence
import flax.linen as nn
import jax.numpy as jnp


class Body(nn.Module):
  stages: Sequence[int]
  width: int = 4

  @nn.compact
  def __call__(self, x, train=False):
    for i, count in enumerate(self.stages):
      for _ in range(count):
        x = nn.relu(nn.Conv(self.width * 2**i, (3, 3))(x))
    return jnp.mean(x, axis=(1, 2))


class Mlp(nn.Module):
  widths: Sequence[int]

  @nn.compact
  def __call__(self, x):
    for i in range(0, len(self.widths)):
      x = nn.relu(nn.Dense(self.widths[i])(x))
    return x


class Head(nn.Module):
  classes: int = 3

  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.classes)(nn.LayerNorm()(x))


class Model(nn.Module):
  stages: Sequence[int]
  widths: Sequence[int] = (5, 6)

  def setup(self):
    self.body = Body(self.stages)
    self.mlp = Mlp(self.widths)
    self.head = Head()

  def __call__(self, x, train=False):
    return self.head(self.mlp(self.body(x, train)))


class Compact(nn.Module):
  stages: Sequence[int]
  deep: bool = True

  @nn.compact
  def __call__(self, x):
    x = Body(self.stages)(x)
    for _ in range(2):
      x = nn.gelu(Mlp((4, 5))(x))
    if self.deep:
      x = Mlp((8, 9))(x)
    x = Head()(x)
    return nn.Dense(2)(x)


class Outer(nn.Module):
  stages: Sequence[int]

  @nn.compact
  def __call__(self, x):
    x = Model(self.stages)(x)
    y = Inner(self.stages)(x[:, None, None, :])
    return nn.Dense(2)(y)


class Inner(nn.Module):
  stages: Sequence[int]

  def setup(self):
    self.body = Body(self.stages)

  def __call__(self, x):
    return self.body(x)


class Base(nn.Module):
  stages: Sequence[int]
  width: int = 4

  @nn.compact
  def __call__(self, x):
    for i, count in enumerate(self.stages):
      for _ in range(count):
        x = nn.relu(nn.Dense(self.width * 2**i)(x))
    return x


class Sub(Base):
  pass


class Wide(Base):
  width: int = 6


class Inherited(nn.Module):
  stages: Sequence[int]

  @nn.compact
  def __call__(self, x):
    x = Sub(self.stages)(x)
    x = Wide(self.stages)(nn.Dense(3)(x))
    return nn.Dense(3)(x)


class Reader(nn.Module):
    """Its width is that of its own table, or of the one that it is given."""

    width: int
    table: Any = None

    @nn.compact
    def __call__(self, tokens):
        if self.table is None:
            embed = nn.Embed(7, self.width)
        else:
            embed = self.table
        return nn.LayerNorm()(embed(tokens.astype("int32")))


class Writer(nn.Module):
    @nn.compact
    def __call__(self, memory, x):
        return nn.Dense(3)(memory) + x


class ReadAndWrite(nn.Module):
    shared: bool

    def setup(self):
        if self.shared:
            self.table = nn.Embed(7, 6)
        else:
            self.table = None
        self.reader = Reader(4, table=self.table)
        self.writer = Writer()

    def encode(self, tokens):
        return self.reader(tokens)

    def __call__(self, tokens, x):
        return self.writer(self.encode(tokens), x)


CASES = [
    ("ReadAndWrite", {"shared": True}, [(2, 3), (2, 3, 3)], {}),
    ("ReadAndWrite", {"shared": False}, [(2, 3), (2, 3, 3)], {}),
  ("Inherited", {"stages": (1, 2)}, [(2, 3)], {}),
  ("Model", {"stages": (1, 2)}, [(2, 4, 4, 3)], {}),
  ("Model", {"stages": (1, 2), "widths": ()}, [(2, 4, 4, 3)], {}),
  ("Compact", {"stages": (1, 2)}, [(2, 4, 4, 3)], {}),
  ("Compact", {"stages": (1, 0), "deep": False}, [(2, 4, 4, 3)], {}),
  ("Outer", {"stages": (2,)}, [(2, 4, 4, 3)], {}),
]
