"""A base whose `setup` makes what methods of the base call, on what each derived class gives them."""

import jax
import jax.numpy as jnp
from flax import linen as nn


class Mixing(nn.Module):
  heads: int
  width: int = 8

  def setup(self):
    # three of them
    self.query = nn.Dense(self.width, use_bias=False)
    self.key = nn.Dense(self.width, use_bias=False)
    self.out = nn.Dense(self.width)

  def mix(self, query, key):
    weights = jax.nn.softmax(query @ key.swapaxes(-1, -2))
    h = (weights @ key).reshape(query.shape[:2] + (self.width,))
    return self.out(h) * self.heads

  @property
  def total(self):
    return self.query.features + self.width


class Own(Mixing):
  def __call__(self, x):
    return self.mix(self.query(x), self.key(x)) * self.total


class Cross(Mixing):
  """It looks at something else."""

  scale: float = 2.0

  def scaled(self, x):
    return x * self.scale

  @nn.compact
  def __call__(self, x, memory):
    return self.scaled(self.mix(self.query(x), self.key(memory)))


class Below(Cross):
  def __call__(self, x, memory):
    return super().__call__(x, memory) + 1


class Reading(nn.Module):
  """It reads what derived classes make."""

  width: int = 5

  @property
  def total(self):
    return self.query.features + self.width

  def shifted(self, x):
    return jax.lax.add(x, self.gain) + self.seen.value

  def attend(self, x):
    return x @ self.table.embedding.T * self.total

  def count(self):
    self.seen.value = self.seen.value + 1


class Read(Reading):
  def setup(self):
    self.query = nn.Dense(self.width)
    self.table = nn.Embed(4, self.width)
    self.gain = self.param("gain", nn.initializers.normal(), (2, self.width))
    self.seen = self.variable("counts", "seen", jnp.zeros, ())

  def __call__(self, x):
    self.count()
    return self.attend(self.shifted(self.query(x)))


class Both(nn.Module):
  @nn.compact
  def __call__(self, x, memory):
    x = Own(2, 4)(x)
    x = Cross(heads=1)(x, memory)
    return Below(3)(x, memory)


CASES = [
    ("Read", {}, [(2, 5)], {}),
    ("Both", {}, [(2, 3, 5), (2, 4, 6)], {}),
    ("Own", {"heads": 2}, [(2, 3, 5)], {}),
    ("Cross", {"heads": 2, "width": 4}, [(2, 3, 5), (2, 4, 6)], {}),
    ("Below", {"heads": 2, "width": 4}, [(2, 3, 5), (2, 4, 6)], {}),
]
