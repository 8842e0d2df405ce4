"""What a condition of the fields decides: widths of one side alone, arguments that some calls give; lists of numbers."""

import jax.numpy as jnp
from flax import linen as nn


def waves(x, lo, hi):
  scales = jnp.array([2 ** i for i in range(lo, hi)])
  xb = jnp.reshape((x[..., None, :] * scales[:, None]), list(x.shape[:-1]) + [-1])
  return jnp.sin(jnp.concatenate([xb, xb + 0.5 * jnp.pi], axis=-1))


def encoded(x, lo, hi):
  if lo == hi:
    return x
  return jnp.concatenate([x] + [waves(x, lo, hi)], axis=-1)


class Encoded(nn.Module):
  lo: int = 0
  hi: int = 3
  @nn.compact
  def __call__(self, x):
    return nn.Dense(2)(encoded(x, self.lo, self.hi))


class PerhapsEncoded(nn.Module):
  lo: int = 0
  hi: int = 3
  use: bool = True
  @nn.compact
  def __call__(self, x):
    if self.use:
      x = waves(x, self.lo, self.hi)
    return nn.Dense(2)(x)


class Octaves(nn.Module):
  lo: int = 0
  hi: int = 3
  @nn.compact
  def __call__(self, x):
    scales = jnp.array([2 ** i for i in range(self.lo, self.hi)])
    y = x[..., None, :] * scales[:, None]
    return nn.Dense(2)(y.reshape(*x.shape[:-1], -1))


class Inner(nn.Module):
  @nn.compact
  def __call__(self, x, c=None):
    x = nn.Dense(4)(x)
    if c is not None:
      x = nn.Dense(4)(x + nn.Dense(4)(c))
    return nn.Dense(2)(x)


class GivesOrNot(nn.Module):
  use: bool = True
  @nn.compact
  def __call__(self, x, c):
    m = Inner()
    if self.use:
      return m(x, c)
    return m(x)


class GivesOrNotInSetup(nn.Module):
  use: bool = True
  def setup(self):
    self.m = Inner()
  def __call__(self, x, c):
    if self.use:
      y = self.m(x, c)
    else:
      y = self.m(x)
    return y


class GivesOrNotAtOnce(nn.Module):
  use: bool = True
  @nn.compact
  def __call__(self, x, c):
    m = Inner()
    y = m(x, c) if self.use else m(x)
    return y


class Broadcast(nn.Module):
  n: int = 3
  @nn.compact
  def __call__(self, x):
    f = jnp.array([2.0 ** i for i in range(self.n)])
    return nn.Dense(2)(jnp.sin(x * f))


class Frequencies(nn.Module):
  n: int = 3
  @nn.compact
  def __call__(self, x):
    f = jnp.asarray([float(i) for i in range(self.n)])
    return nn.Dense(2)(jnp.sin(x[..., None] * f))


CASES = [
  ("Encoded", {}, [(2, 4, 3)], {}),
  ("Encoded", {"hi": 0}, [(2, 4, 3)], {}),
  ("PerhapsEncoded", {}, [(2, 4, 3)], {}),
  ("PerhapsEncoded", {"use": False}, [(2, 4, 3)], {}),
  ("Octaves", {}, [(2, 4, 3)], {}),
  *[(name, {"use": use}, [(2, 4, 3), (2, 4, 5)], {})
    for name in ("GivesOrNot", "GivesOrNotInSetup", "GivesOrNotAtOnce") for use in (True, False)],
  ("Broadcast", {}, [(2, 1)], {}),
  ("Frequencies", {"n": 5}, [(2, 4)], {}),
]
