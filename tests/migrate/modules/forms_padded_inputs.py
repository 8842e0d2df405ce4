"""Methods that pad what they are given or nothing at all, by a number that follows from that; `CASES` as in forms_basic."""

from typing import Any, Optional
import jax
import jax.numpy as jnp
from flax import linen as nn


class Generating(nn.Module):
  length: int
  def setup(self):
    self.dense = nn.Dense(4)
  def __call__(self, x):
    return self.dense(x)
  def pad(self, x, length):
    missing = length - x.shape[1]
    if missing > 0:
      zeros = jnp.zeros((x.shape[0], missing))
      padded = jnp.concatenate([x, zeros], axis=1)
    else:
      padded = x
    return padded
  def generate(self, x: Optional[Any] = None):
    given = x if x is not None else jnp.array([[0.0]])
    for _ in range(self.length - 1):
      y = self.dense(self.pad(given, self.length))
      given = jnp.concatenate([given, y[:, :1]], axis=1)
    return given


CASES: list[Any] = [
    ('Generating', dict(length=4), [(2, 4)], dict()),
]
