"""Classes that stay Linen and are wrapped, with inputs that may be None, in tuples, flags that are handed on, and plain arrays."""

import jax
import jax.numpy as jnp
from flax import linen as nn


class Inner(nn.Module):
  """Lifted gradients inside of a module: this class stays Linen."""

  @nn.compact
  def __call__(self, x, mask=None, doubled: bool = False):
    y = nn.Dense(4)(x)
    y = y + nn.vjp(lambda m, z: z * 2, self, y, vjp_variables=True)[1](y)[1]
    if mask is not None:
      y = jnp.where(mask, y, nn.Dense(4, name="masked")(y))
    return y * 2 if doubled else y


class HandsOn(nn.Module):
  @nn.compact
  def __call__(self, x, mask=None):
    return nn.Dense(3)(Inner()(x, mask))


class Changed(nn.Module):
  @nn.compact
  def __call__(self, x, mask=None):
    mask = None if mask is None else mask[..., None]
    return Inner()(nn.Dense(3)(x), mask)


class InSetup(nn.Module):
  def setup(self):
    self.inner = Inner()

  def __call__(self, x, mask=None):
    return self.inner(x, mask=mask)


class Above(nn.Module):
  """Of two parts, one is given the mask."""

  @nn.compact
  def __call__(self, x, mask=None):
    return HandsOn()(x) + HandsOn()(x, mask)


class Flagged(nn.Module):
  @nn.compact
  def __call__(self, x, doubled: bool = False):
    return Inner()(x, doubled=doubled)


class WithMask(nn.Module):
  @nn.compact
  def __call__(self, x, attention_mask):
    return Inner()(x, attention_mask)


class Pairs(nn.Module):
  @nn.compact
  def __call__(self, state, pair, rest: list):
    x, resets = pair
    y = nn.Dense(4)(jnp.where(resets[:, None] > 0, 0.0, state)) + nn.Dense(4)(x) + rest[0]
    return y + nn.vjp(lambda m, z: z * 2, self, y, vjp_variables=True)[1](y)[1]


class GivesPairs(nn.Module):
  @nn.compact
  def __call__(self, state, x):
    x, resets = x
    return nn.Dense(2)(Pairs()(state, (nn.Dense(5)(x), resets), [state]))


class Pair(nn.Module):
  @nn.compact
  def __call__(self, x, y, resets):
    return GivesPairs()(x, (y, resets.sum(-1)))


class Two(nn.Module):
  @nn.compact
  def __call__(self, x: jax.Array, other: jax.Array):
    y = nn.Dense(4)(x) + nn.Dense(4)(other)
    return y + nn.vjp(lambda m, z: z * 2, self, y, vjp_variables=True)[1](y)[1]


class HandsOnPlain(nn.Module):
  @nn.compact
  def __call__(self, x, y):
    return Two()(x, y)


CASES = [
    ("HandsOn", {}, [(2, 4)], {"mask": None}),
    ("HandsOn", {}, [(2, 4), (2, 4)], {}),
    ("Changed", {}, [(2, 4)], {"mask": None}),
    ("Changed", {}, [(2, 4), (2,)], {}),
    ("InSetup", {}, [(2, 4)], {"mask": None}),
    ("InSetup", {}, [(2, 4), (2, 1)], {}),
    ("Above", {}, [(2, 4)], {"mask": None}),
    ("Above", {}, [(2, 4), (2, 1)], {}),
    ("Flagged", {}, [(2, 4)], {}),
    ("Flagged", {}, [(2, 4)], {"doubled": True}),
    ("WithMask", {}, [(2, 3), (2, 1)], {}),
    ("Pair", {}, [(2, 4), (2, 3), (2, 3)], {}),
    ("HandsOnPlain", {}, [(2, 3), (2, 5)], {}),
]
