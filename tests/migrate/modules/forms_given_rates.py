"""Rates of dropout that a caller gives: to Linen's layer made anew at each call, or through a class of the project."""

from typing import Optional, Sequence

import flax.linen as nn
import jax
import jax.numpy as jnp

RATE = 0.25


class Mlp(nn.Module):
  width: int

  @nn.compact
  def __call__(self, x, train: bool = False, dropout_rate: float = RATE):
    x = nn.relu(nn.Dense(self.width)(x))
    x = nn.Dropout(dropout_rate)(x, deterministic=not train)
    x = nn.Dense(self.width)(x)
    return nn.Dropout(rate=dropout_rate / 2, broadcast_dims=(1,), deterministic=not train)(x)


class Keyed(nn.Module):
  @nn.compact
  def __call__(self, x, rate: float = RATE):
    return nn.Dropout(rate, (0,))(nn.Dense(8)(x), deterministic=False, rng=jax.random.key(3))


class Either(nn.Module):
  """The rate of the field, unless the caller says another."""

  width: int
  dropout_rate: float = 0.1

  @nn.compact
  def __call__(self, x, train: bool = False, dropout_rate: Optional[float] = None):
    if dropout_rate is None:
      dropout_rate = self.dropout_rate
    y = Mlp(self.width, name="mlp")(x, train=train, dropout_rate=dropout_rate)
    drop = nn.Dropout(rate=dropout_rate, deterministic=not train)
    for _ in range(2):
      y = drop(nn.Dense(self.width)(y))
    return y


class Drop(nn.Module):
  """A dropout of the project, whose rate may be given at the call."""

  rate: Optional[float] = None
  deterministic: Optional[bool] = None

  @nn.compact
  def __call__(self, x, deterministic: Optional[bool] = None, rate: Optional[float] = None):
    deterministic = nn.merge_param("deterministic", self.deterministic, deterministic)
    # the rate of the call comes first
    if rate is None:
      rate = self.rate
    if deterministic:
      return x
    keep = 1.0 - rate
    mask = jax.random.bernoulli(self.make_rng("dropout"), p=keep, shape=x.shape)
    return jnp.where(mask, x / keep, 0.0)


class Scaled(nn.Module):
  scale: Optional[float] = None

  @nn.compact
  def __call__(self, x, scale: Optional[float] = None):
    scale = self.scale if scale is None else scale
    return nn.Dense(3)(x) * scale


class Unread(nn.Module):
  """A field that nothing reads."""

  width: int
  dropout_rate: float = RATE

  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.width)(x)


class Net(nn.Module):
  @nn.compact
  def __call__(self, x, train: bool = False, dropout_rate: Optional[float] = 0.5):
    x = Drop(dropout_rate)(nn.Dense(4)(x), not train, rate=dropout_rate)
    x = Drop(dropout_rate, deterministic=not train)(x)
    x = Drop(rate=dropout_rate, deterministic=not train)(nn.Dense(4)(x), rate=dropout_rate)
    x = Scaled(dropout_rate)(x)
    return Unread(6, dropout_rate=dropout_rate)(x)


class Tower(nn.Module):
  dims: Sequence[int] = (4, 5, 6)
  @nn.compact
  def __call__(self, x, train: bool = False, rate: Optional[float] = 0.5):
    n = len(self.dims)
    for i, d in enumerate(self.dims):
      x = nn.relu(nn.Dense(d)(x))
      if rate is not None and i == n - 2:
        x = nn.Dropout(rate, deterministic=not train)(x)
    return x
class Fixed(nn.Module):
  dims: Sequence[int] = (4, 5, 6)
  rate: float = 0.1
  @nn.compact
  def __call__(self, x, train: bool = False):
    for d in self.dims:
      x = nn.relu(nn.Dense(d)(x))
      if train:
        x = nn.Dropout(self.rate)(x, deterministic=False)
    return x
class KeyedTower(nn.Module):
  dims: Sequence[int] = (4, 5, 6)
  @nn.compact
  def __call__(self, x, rate: Optional[float] = 0.5):
    for i, d in enumerate(self.dims):
      x = nn.relu(nn.Dense(d)(x))
      if rate is not None and i < 2:
        x = nn.Dropout(rate)(x, deterministic=False, rng=jax.random.key(i))
    return x


CASES = [
  ("Mlp", {"width": 4}, [(2, 3)], {}),
  ("Either", {"width": 4}, [(2, 3)], {"dropout_rate": 0.3}),
  ("Either", {"width": 4}, [(2, 3)], {}),
  ("Mlp", {"width": 4}, [(2, 3)], {"train": True, "dropout_rate": 0.0}),
  ("Keyed", {}, [(2, 3)], {}),
  ("Net", {}, [(2, 3)], {"dropout_rate": 0.125}),
  ("Tower", {}, [(2, 3)], {}),
  ("Tower", {}, [(2, 3)], {"rate": None}),
  ("Fixed", {}, [(2, 3)], {}),
  ("KeyedTower", {}, [(2, 3)], {}),
  ("KeyedTower", {}, [(2, 3)], {"rate": None}),
]
