"""Arrays joined along axis 1 that are batches of vectors, or sequences where attention says so; `CASES` as in forms_basic."""

import jax
import jax.numpy as jnp
from flax import linen as nn


class Messages(nn.Module):
  f: int = 4
  steps: int = 2
  @nn.compact
  def __call__(self, nodes, senders, receivers):
    n = nodes.shape[0]
    h = nn.Dense(self.f)(nodes)
    for s in range(self.steps):
      m = nn.Dense(self.f, name=f"msg_{s}")(jnp.concatenate([h[senders], h[receivers]], -1))
      agg = jax.ops.segment_sum(m, receivers, num_segments=n)
      h = nn.Dense(self.f)(jnp.concatenate([h, agg], 1))
    return h.mean(0)


class Grown(nn.Module):
  f: int = 4
  @nn.compact
  def __call__(self, nodes):
    h = nn.Dense(self.f)(nodes)
    for s in range(2):
      m = nn.Dense(self.f, name=f"msg_{s}")(h)
      h = nn.Dense(self.f)(jnp.concatenate([h, m], 1))
    return h


class Value(nn.Module):
  f: int = 4
  @nn.compact
  def __call__(self, obs, action):
    x = jnp.concatenate([obs, action], axis=1)
    for _ in range(2):
      x = nn.relu(nn.Dense(self.f)(x))
    return nn.Dense(1)(x)


class Latents(nn.Module):
  d: int = 4
  @nn.compact
  def __call__(self, x, latents):
    kv = jnp.concatenate([x, latents], axis=1)
    return nn.MultiHeadDotProductAttention(2)(nn.Dense(self.d)(latents), nn.Dense(self.d)(kv))


class Tokens(nn.Module):
  d: int = 4
  @nn.compact
  def __call__(self, x, ctx):
    x = jnp.concatenate([x, ctx], axis=1)
    x = nn.SelfAttention(2)(nn.Dense(self.d)(x))
    return nn.Dense(2)(x[:, 0])

CASES = [
    ("Messages", {}, [(5, 3), [0, 1, 2, 3, 4, 0], [1, 2, 3, 4, 0, 2]], {}),
    ("Grown", {}, [(5, 3)], {}),
    ("Value", {}, [(2, 3), (2, 2)], {}),
    ("Latents", {}, [(2, 3, 4), (2, 2, 4)], {}),
    ("Tokens", {}, [(2, 3, 4), (2, 2, 4)], {}),
]
