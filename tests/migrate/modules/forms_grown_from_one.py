"""Arrays of width 1 that an operation makes wider, in a loop or by a value of the constructor's own."""

from typing import Any

import jax.numpy as jnp
from flax import linen as nn


class Grown(nn.Module):
  @nn.compact
  def __call__(self, x, y):
    h = jnp.zeros((x.shape[0], 1))
    for _ in range(2):
      h = h + y
    return nn.Dense(4)(h)


class Scaled(nn.Module):
  scale: float = 2.0
  @nn.compact
  def __call__(self, x):
    h = jnp.mean(x, -1, keepdims=True) * self.scale / jnp.sqrt(self.scale)
    return nn.Dense(4)(h)


class Waves(nn.Module):
  count: int = 8
  @nn.compact
  def __call__(self, x):
    assert x.ndim == 1
    waves = jnp.exp(jnp.linspace(0, 1.0, self.count // 2))
    h = x[:, None] * waves[None, :]
    return nn.Dense(4)(jnp.concatenate([jnp.sin(h), jnp.cos(h)], -1))


CASES: list[Any] = [
    ("Grown", {}, [(5, 3), (5, 6)], {}),
    ("Scaled", {}, [(5, 3)], {}),
    ("Waves", {}, [(5,)], {}),
]
