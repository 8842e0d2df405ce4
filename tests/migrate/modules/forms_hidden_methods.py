"""Methods that make a submodule of their own name, which Linen keeps apart; `CASES` as in forms_basic."""

import jax.numpy as jnp
from flax import linen as nn


class Rotary(nn.Module):
  size: int

  def __call__(self, x, position):
    return x * jnp.cos(position[..., None] / self.size)


class Attention(nn.Module):
  width: int = 6

  def query(self, x):
    """Project the queries."""
    return nn.Dense(self.width, name="query")(x)

  def key(self, x, scale=1.0):
    y = nn.Dense(self.width, use_bias=False, name="key")(x) * scale
    return self.apply_key(y)

  def apply_key(self, x):
    return jnp.tanh(x)

  def rotary(self, x, position):
    x = Rotary(self.width, name="rotary")(x, position)
    return x

  @nn.compact
  def __call__(self, x):
    position = jnp.arange(x.shape[1], dtype=jnp.float32)[None]
    query, key = self.rotary(self.query(x), position), self.key(x, scale=0.5)
    scores = nn.softmax(jnp.einsum("bqd,bkd->bqk", query, key))
    return jnp.einsum("bqk,bkd->bqd", scores, nn.Dense(self.width, name="value")(x))


class Base(nn.Module):
  classes: int = 3

  def logits(self, x):
    return nn.Dense(self.classes, name="logits")(x)


class Pooled(Base):
  @nn.compact
  def __call__(self, x):
    return self.logits(nn.relu(nn.Dense(5)(x)).mean(1))


class Overriding(Base):
  depth: int = 2

  def logits(self, x):
    return nn.Dense(self.classes, use_bias=False, name="logits")(jnp.sin(x))

  @nn.compact
  def __call__(self, x):
    for _ in range(self.depth):
      x = Attention(4)(x)
    return self.logits(x) if self.depth else x


CASES = [
  ("Attention", {}, [(2, 3, 4)], {}),
  ("Pooled", {}, [(2, 3, 4)], {}),
  ("Overriding", {}, [(2, 3, 4)], {}),
]
