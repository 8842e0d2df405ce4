"""Slices of shapes whose items are arguments of modules: `Pooled(*x.shape[-3:], n)`."""

import jax.numpy as jnp
from flax import linen as nn


class Pooled(nn.Module):
  height: int
  width: int
  channels: int
  n: int = 5

  @nn.compact
  def __call__(self, x):
    shape = (self.height, self.width, self.channels, self.n)
    kernel = self.param("kernel", nn.initializers.normal(), shape)
    return jnp.einsum("...hwc,hwcn->...cn", x, kernel).reshape(x.shape[0], -1)


class Table(nn.Module):
  rows: int
  columns: int

  @nn.compact
  def __call__(self, x):
    return x + self.param("table", nn.initializers.normal(), (self.rows, self.columns))[..., None]


class Encoder(nn.Module):
  features: tuple[int, ...] = (4, 8)
  n: int = 2
  pool: str = "learned"
  out: int | None = None

  @nn.compact
  def __call__(self, x, train: bool = False):
    for size in self.features:
      x = nn.Conv(size, (3, 3), strides=(2, 2))(x)
    if self.pool == "mean":
      x = x.mean((-3, -2))
    elif self.pool == "learned":
      x = Pooled(*(x.shape[-3:]), self.n)(x)
      x = nn.Dropout(0.0, deterministic=not train)(x)
    if self.out is not None:
      x = nn.Dense(self.out)(x)
    return x


class Tables(nn.Module):
  @nn.compact
  def __call__(self, x):
    x = Table(*x.shape[1:3], name="inner")(x)
    return Table(*x.shape[-3:-1])(x)


CASES = [
    ("Encoder", {}, [(2, 9, 7, 3)], {}),
    ("Encoder", {"out": 3}, [(2, 9, 7, 3)], {}),
    ("Encoder", {"pool": "mean", "out": 3}, [(2, 9, 7, 3)], {}),
    ("Tables", {}, [(2, 4, 5, 3)], {}),
]
