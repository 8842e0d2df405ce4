"""Classes with a branch that asks for another number of dimensions than they are given where it is not taken."""

import flax.linen as nn


class Mlp(nn.Module):
  dim: int = 6
  grid: bool = False

  @nn.compact
  def __call__(self, x):
    x = nn.Dense(self.dim)(x)
    if self.grid:
      b, n, c = x.shape
      w = int(n ** 0.5)
      x = x.reshape(b, w, w, c)
      x = nn.Conv(c, (3, 3))(x)
      x = x.reshape(b, -1, c)
    return nn.Dense(3)(x)


class Position(nn.Module):
  @nn.compact
  def __call__(self, x):
    return x + self.param("p", nn.initializers.normal(0.1), (1, x.shape[1], x.shape[2], x.shape[3]))


class Beside(nn.Module):
  @nn.compact
  def __call__(self, x):
    x = nn.Conv(3, (3, 3), 2, "SAME")(x)
    x = x + Mlp(6)(x)
    return Position()(x)


class Grid(nn.Module):
  @nn.compact
  def __call__(self, x):
    b, h, w, c = x.shape
    x = nn.Conv(3, (3, 3))(x)
    x = x.reshape(b, h * w, 3)
    x = Mlp(6, grid=True)(x)
    return Position()(x.reshape(b, h, w, 3))


class Unsettled(nn.Module):
  grid: bool = False

  @nn.compact
  def __call__(self, x):
    x = nn.Conv(3, (3, 3), 2, "SAME")(x)
    x = Mlp(6, grid=self.grid)(x)
    return nn.Dense(4)(x)


CASES = [
  ("Beside", {}, [(2, 8, 8, 3)], {}),
  ("Grid", {}, [(2, 4, 4, 3)], {}),
  ("Unsettled", {}, [(2, 8, 8, 3)], {}),
]
