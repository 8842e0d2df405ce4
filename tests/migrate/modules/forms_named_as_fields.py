"""Parameters, variables and layers under the names of fields, which Linen keeps apart; `CASES` as in forms_basic."""

import jax.numpy as jnp
from flax import linen as nn


class ReadBesides(nn.Module):
  latents: int = 3

  @nn.compact
  def __call__(self, x):
    z = self.param("latents", nn.initializers.normal(0.1), (self.latents, 4))
    return jnp.broadcast_to(z[None], (x.shape[0], self.latents, 4)) + x[:, None]


class OnlyIfGiven(nn.Module):
  registers: int = 0
  width: int = 4

  @nn.compact
  def __call__(self, x):
    if self.registers:
      registers = self.param("registers", nn.initializers.normal(0.1), (1, self.registers, self.width))
      x = jnp.concatenate([x, jnp.tile(registers, (x.shape[0], 1, 1))], axis=1)
    x = nn.Dense(self.width)(x)
    return x[:, : -self.registers] if self.registers else x


class LayerOfTheName(nn.Module):
  head: int = 6
  head_field: float = 2.0

  @nn.compact
  def __call__(self, x):
    y = nn.Dense(self.head * 2, name="head")(x)
    return y.reshape(-1, 2, self.head) * self.head_field


class StatisticOfTheName(nn.Module):
  mean: float = 3.0

  @nn.compact
  def __call__(self, x):
    mean = self.variable("batch_stats", "mean", lambda: jnp.full(x.shape[-1], self.mean))
    return x - mean.value * self.mean


class OfSetup(nn.Module):
  tau: float = 2.0

  def setup(self):
    self.log_tau = self.param("tau", nn.initializers.constant(self.tau), ())

  def __call__(self, x):
    return x / self.log_tau + self.scaled(x)

  def scaled(self, x):
    return x * self.tau


class ReadOnlyWhenMade(nn.Module):
  latents: int = 3

  @nn.compact
  def __call__(self, x):
    return x + self.param("latents", nn.initializers.ones, (self.latents, 4)).sum(0)


CASES = [
  ("ReadBesides", {}, [(2, 4)], {}),
  ("OnlyIfGiven", {}, [(2, 3, 4)], {}),
  ("OnlyIfGiven", {"registers": 2}, [(2, 3, 4)], {}),
  ("LayerOfTheName", {}, [(2, 4)], {}),
  ("StatisticOfTheName", {}, [(2, 4)], {}),
  ("OfSetup", {}, [(2, 4)], {}),
  ("ReadOnlyWhenMade", {}, [(2, 4)], {}),
]
