"""Variables that `has_variable` and `is_initializing` ask about, and that the class always makes; `CASES` as in forms_basic."""

import jax.numpy as jnp
from flax import linen as nn


class BiasAdder(nn.Module):
  decay: float = 0.9
  @nn.compact
  def __call__(self, x):
    is_initialized = self.has_variable("averages", "mean")
    mean = self.variable("averages", "mean", lambda s: jnp.zeros(s), x.shape[1:])
    bias = self.param("bias", lambda rng, shape: jnp.zeros(shape), x.shape[1:])
    if is_initialized:
      mean.value = self.decay * mean.value + (1.0 - self.decay) * jnp.mean(x, axis=0)
    return x - mean.value + bias


class Counted(nn.Module):
  @nn.compact
  def __call__(self, x):
    if self.has_variable("state", "n"):
      x = x * 2
    n = self.variable("state", "n", lambda: jnp.zeros((), jnp.int32))
    if not self.is_initializing():
      n.value += 1
    return nn.Dense(3)(x) + n.value


class Init1(nn.Module):
  @nn.compact
  def __call__(self, x):
    m = self.variable("state", "m", lambda: jnp.zeros((3,)))
    if self.is_initializing():
      return x
    m.value = m.value + x.mean(0)
    return x - m.value


class Init2(nn.Module):
  @nn.compact
  def __call__(self, x, train: bool = False):
    m = self.variable("state", "m", lambda: jnp.zeros((3,)))
    if train and not self.is_initializing():
      m.value = m.value + x.mean(0)
    if not self.is_initializing() and train:
      m.value = m.value * 2
    y = m.value if not self.is_initializing() else x
    initializing = self.is_initializing()
    if not initializing:
      # a comment
      y = y * 2
    else:
      y = y + 1
    return x - y

CASES = [
    ("BiasAdder", {}, [(4, 3)], {}),
    ("Counted", {}, [(4, 3)], {}),
    ("Init1", {}, [(4, 3)], {}),
    ("Init2", {}, [(4, 3)], {"train": True}),
    ("Init2", {}, [(4, 3)], {}),
]
