"""Variables whose initializers are given arguments by name; `CASES` as in forms_basic."""

import jax.numpy as jnp
from flax import linen as nn


class ShapeByName(nn.Module):
  size: int = 3

  @nn.compact
  def __call__(self, x):
    mean = self.variable("stats", "mean", jnp.zeros, shape=(self.size,), dtype=jnp.float32)
    return x + mean.value


class DtypeByName(nn.Module):
  """Half precision, by the last argument alone."""

  @nn.compact
  def __call__(self, x):
    count = self.variable("stats", "count", jnp.ones, (3,), dtype=jnp.bfloat16)
    count.value = count.value * 1.01
    return x + count.value


class InitByName(nn.Module):
  @nn.compact
  def __call__(self, x):
    return x + self.variable("stats", "start", init_fn=lambda: jnp.ones((3,), jnp.int32), unbox=True).value


class WidthByName(nn.Module):
  """The shape of the variable decides what follows."""

  rows: int = 3

  @nn.compact
  def __call__(self, x):
    table = self.variable("stats", "table", jnp.full, fill_value=2.0, shape=(self.rows, x.shape[-1]))
    return nn.Dense(2)(jnp.concatenate([x, table.value], 0))


class HalfCache(nn.Module):
  @nn.compact
  def __call__(self, x):
    seen = self.variable("cache", "seen", jnp.ones, x.shape, dtype=jnp.bfloat16)
    seen.value = seen.value + x.astype(jnp.bfloat16)
    return x + seen.value


class InSetup(nn.Module):
  def setup(self):
    self.offset = self.variable("stats", "offset", jnp.zeros, shape=(3,), dtype=jnp.int32)

  def __call__(self, x):
    return x + self.offset.value


class OwnInitializer(nn.Module):
  @nn.compact
  def __call__(self, x):
    def start(n, fill=0.0):
      return jnp.full((n,), fill)

    return x + self.variable("stats", "start", start, 3, fill=2.0).value


CASES = [
    ("ShapeByName", {}, [(2, 3)], {}),
    ("DtypeByName", {}, [(2, 3)], {}),
    ("InitByName", {}, [(2, 3)], {}),
    ("WidthByName", {}, [(2, 3)], {}),
    ("WidthByName", {"rows": 5}, [(2, 4)], {}),
    ("HalfCache", {}, [(2, 3)], {}),
    ("InSetup", {}, [(2, 3)], {}),
    ("OwnInitializer", {}, [(2, 3)], {}),
]
