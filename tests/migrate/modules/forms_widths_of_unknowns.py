"""Widths that are written although nothing else is known of an array: what foreign code gives, splits of unknown rank."""

import dataclasses
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp


@dataclasses.dataclass
class Found:
  mixed: jax.Array
  weights: jax.Array | None = None


class Mixer:
  """No module: what it gives is not followed."""

  def __init__(self, scale):
    self.scale = scale

  def __call__(self, **given):
    return Found(mixed=jnp.tanh(given["query"] + given["key"]) * self.scale)


class Attention(nn.Module):
  heads: int = 2
  size: int = 3

  def setup(self):
    self.query = nn.Dense(self.heads * self.size)
    self.key = nn.Dense(self.heads * self.size)
    self.out = nn.Dense(5)
    self.mixer = Mixer(2.0)

  def merged(self, x):
    return x.reshape(x.shape[:2] + (self.heads * self.size,))

  def __call__(self, x):
    b, t = x.shape[:2]
    query = self.query(x).reshape((b, t, self.heads, self.size))
    key = self.key(x).reshape((b, t, self.heads, self.size))
    return self.out(self.merged(self.mixer(query=query, key=key).mixed))


class Reshaped(nn.Module):
  heads: int = 2
  size: int = 3

  @nn.compact
  def __call__(self, x):
    y = Mixer(1.0)(query=x, key=x).mixed
    y = jnp.reshape(y, (*y.shape[:-1], self.heads * self.size))
    return nn.Dense(4)(y)


class Gate(nn.Module):
  size: int = 3

  def setup(self):
    self.proj = nn.Dense(self.size * 8)

  def __call__(self, x):
    x = self.proj(x)
    a, b = jnp.split(x, 2, axis=2)
    return a * nn.gelu(b)


class Gated(nn.Module):
  size: int = 3

  def setup(self):
    self.gate = Gate(self.size)
    self.out = nn.Dense(self.size)

  def __call__(self, x):
    return self.out(self.gate(x))


class Depthwise(nn.Module):
  pad: Any = "SAME"

  @nn.compact
  def __call__(self, x):
    kernel = self.param("k", nn.initializers.normal(), (3, 3, 1, x.shape[-1]))
    return jax.lax.conv_general_dilated(
      x, kernel, (1, 1), self.pad, dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=x.shape[-1]
    )


class Separable(nn.Module):
  pad: Any = "SAME"

  @nn.compact
  def __call__(self, x):
    x = Depthwise(self.pad)(x)
    return nn.Conv(5, (1, 1))(x)


CASES = [
  ("Separable", {}, [(2, 6, 6, 3)], {}),
  ("Separable", {"pad": ((0, 1), (2, 1))}, [(2, 6, 6, 3)], {}),
  ("Attention", {}, [(2, 3, 4)], {}),
  ("Reshaped", {}, [(2, 3, 6)], {}),
  ("Gate", {}, [(2, 3, 5)], {}),
  ("Gated", {}, [(2, 3, 5)], {}),
]
