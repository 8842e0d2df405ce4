"""Helper functions whose branches make one layer each: what is handed in has one name where Linen gives both one name."""

import flax.linen as nn
import jax.numpy as jnp


def norm(x, train, scale=None):
  if scale is None:
    y = nn.BatchNorm(use_running_average=not train, momentum=0.9)(x)
  else:
    y = nn.BatchNorm(use_running_average=not train, momentum=0.9,
                     scale_init=nn.initializers.constant(scale))(x)
  return nn.relu(y)
def dense(x, wide):
  if wide:
    return nn.Dense(8)(x)
  return nn.Dense(4)(x)
def either(x, kind):
  if kind == "a":
    x = nn.Dense(3)(x)
  elif kind == "b":
    x = nn.Dense(4)(x)
  else:
    x = nn.Dense(5)(x)
  return x
def shifted(x, deep):
  if deep:
    x = nn.Dense(6)(dense(x, False))
  else:
    x = nn.Dense(6)(x)
  return x
def named(x, first):
  if first:
    x = nn.Dense(3, name="first")(x)
  else:
    x = nn.Dense(3, name="second")(x)
  return x
def sometimes(x, on, wide):
  if on:
    if wide:
      x = nn.Dense(8)(x)
    else:
      x = nn.Dense(4)(x)
  return x
def before_and_after(x, wide):
  x = nn.Dense(7)(x)
  if wide:
    x = nn.Dense(8)(x)
  else:
    x = nn.Dense(4)(x)
  return nn.Dense(2)(x)


class Norms(nn.Module):
  scale: float | None = None
  train: bool = True
  @nn.compact
  def __call__(self, x):
    x = norm(x, self.train)
    x = norm(x,
             self.train,
             scale=self.scale)
    return norm(x, self.train, scale=2.0)
class Denses(nn.Module):
  wide: bool = False
  @nn.compact
  def __call__(self, x):
    return dense(dense(x, self.wide), not self.wide)
class Eithers(nn.Module):
  kind: str = "a"
  @nn.compact
  def __call__(self, x):
    return either(nn.relu(either(x, self.kind)), "b")
class Shifted(nn.Module):
  deep: bool = False
  @nn.compact
  def __call__(self, x):
    return shifted(shifted(x, self.deep), True)
class Named(nn.Module):
  first: bool = False
  @nn.compact
  def __call__(self, x):
    return nn.Dense(2)(named(x, self.first))
class Sometimes(nn.Module):
  on: bool = True
  wide: bool = False
  @nn.compact
  def __call__(self, x):
    return nn.Dense(2)(sometimes(x, self.on, self.wide))
class Around(nn.Module):
  wide: bool = False
  skip: bool = False
  @nn.compact
  def __call__(self, x):
    if not self.skip:
      x = before_and_after(x, self.wide)
    return before_and_after(x, True)


CASES = [
  ("Norms", {}, [(4, 6)], {}), ("Around", {"skip": True}, [(2, 3)], {}), ("Denses", {"wide": True}, [(2, 3)], {}),
  ("Eithers", {"kind": "c"}, [(2, 3)], {}), ("Norms", {"scale": 0.5, "train": False}, [(4, 6)], {}), ("Around", {}, [(2, 3)], {}),
  ("Around", {"wide": True}, [(2, 3)], {}), ("Denses", {}, [(2, 3)], {}), ("Eithers", {}, [(2, 3)], {}),
  ("Named", {}, [(2, 3)], {}), ("Named", {"first": True}, [(2, 3)], {}), ("Sometimes", {}, [(2, 3)], {}),
  ("Sometimes", {"on": False}, [(2, 3)], {}), ("Sometimes", {"wide": True}, [(2, 3)], {}),
  ("Shifted", {}, [(2, 3)], {}), ("Shifted", {"deep": True}, [(2, 3)], {}),
]
