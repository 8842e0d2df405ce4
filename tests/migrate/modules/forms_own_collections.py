"""Collections of the user's own, whose names are taken in the file or alike; `CASES` as in forms_basic."""

import collections as Other
from typing import Any, NamedTuple

import jax.numpy as jnp
from flax import linen as nn


class Stats(NamedTuple):
  mean: Any


class Counting(nn.Module):
  @nn.compact
  def __call__(self, x):
    x = nn.Dense(6)(x)
    stats = self.variable('stats', 'a', lambda: jnp.zeros((), jnp.int32))
    other = self.variable('other', 'b', lambda: jnp.zeros((), jnp.int32))
    camel = self.variable('myState', 'c', lambda: jnp.zeros((), jnp.int32))
    lower = self.variable('mystate', 'd', lambda: jnp.ones((), jnp.int32))
    stats.value = stats.value + 1
    lower.value = lower.value + camel.value + other.value + 2
    return Stats(mean=x).mean, lower.value, len(Other.OrderedDict())


CASES = [('Counting', {}, [(2, 3)], {})]
