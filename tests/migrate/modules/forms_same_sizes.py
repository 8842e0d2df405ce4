"""Sizes that two branches of the call say in different words, and what a scan carries in a record."""

import flax.linen as nn
import jax
import jax.numpy as jnp
from typing import Any, NamedTuple
import einops


class Carry(NamedTuple):
  total: jax.Array
  peak: jax.Array


def chunked(x, size):
  b, n, h, d = x.shape
  x = jnp.moveaxis(x.reshape((b, n // size, size, h, d)), 1, 0)

  def body(carry, chunk):
    return Carry(carry.total + chunk, jnp.maximum(carry.peak, chunk.max(-1, keepdims=True))), chunk * 2

  first = Carry(jnp.zeros((b, size, h, d)), jnp.zeros((b, size, h, 1)))
  (total, peak), out = jax.lax.scan(body, first, x)
  return einops.rearrange(out * total / (1 + peak), "n b c h d -> b (n c) h d")


class Attention(nn.Module):
  config: Any

  def setup(self):
    head = self.config["width"] // self.config["heads"]
    self.q = nn.Dense(self.config["heads"] * head)
    self.v = nn.Dense(self.config["groups"] * head)
    self.out = nn.Dense(self.config["width"])

  def __call__(self, x, deep: bool = False):
    heads, groups = self.config["heads"], self.config["groups"]
    q = einops.rearrange(self.q(x), "b s (h d) -> b s h d", h=heads)
    v = einops.repeat(self.v(x), "b s (h d) -> b s (h g) d", h=groups, g=heads // groups)
    if deep:
      y = chunked(v, 2)
    else:
      weights = jnp.einsum("bqhd,bkhd->bhqk", q, q)
      y = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(weights), v)
    return self.out(einops.rearrange(y, "b s h d -> b s (h d)"))


CASES = [
  ("Attention", {"config": {"width": 12, "heads": 4, "groups": 2}}, [(2, 4, 6)], {}),
  ("Attention", {"config": {"width": 12, "heads": 4, "groups": 2}}, [(2, 4, 6)], {"deep": True}),
]
