"""A class whose attributes have names of their own in Linen, and one that inherits them and calls them itself."""
import flax.linen as nn
import jax.numpy as jnp

class Attention(nn.Module):
  width: int = 8
  def setup(self):
    self.query = nn.Dense(self.width, name="to_q")
    self.key = nn.Dense(self.width, name="to_k")
    self.proj = nn.Dense(self.width, name="to_out")
  def __call__(self, x):
    scores = nn.softmax(jnp.einsum("bqd,bkd->bqk", self.query(x), self.key(x)))
    return self.proj(jnp.einsum("bqk,bkd->bqd", scores, self.key(x)))

class Rotated(Attention):
  shift: int = 1
  def __call__(self, x):
    query, key = jnp.roll(self.query(x), self.shift, 1), self.key(x)
    scores = nn.softmax(jnp.einsum("bqd,bkd->bqk", query, key))
    return self.proj(jnp.einsum("bqk,bkd->bqd", scores, key))

class Model(nn.Module):
  rotated: bool = True
  @nn.compact
  def __call__(self, x):
    return Rotated(6)(x) if self.rotated else Attention(6)(x)

class Crossed(nn.Module):
  width: int = 8
  def setup(self):
    self.query = nn.Dense(self.width, name="to_q")
    self.key = nn.Dense(self.width, name="to_k")
  def __call__(self, x, context=None):
    context = x if context is None else context
    return jnp.einsum("bqd,bkd->bqk", self.query(x), self.key(context))

class Shifted(Crossed):
  shift: int = 1
  def __call__(self, x, context=None):
    context = x if context is None else context
    return jnp.einsum("bqd,bkd->bqk", jnp.roll(self.query(x), self.shift, 1), self.key(context))

CASES = [
  ("Shifted", {}, [(2, 3, 5), (2, 4, 6)], {}),
  ("Shifted", {}, [(2, 3, 5)], {"context": None}),
  ("Crossed", {}, [(2, 3, 5)], {"context": None}),
  ("Attention", {}, [(2, 3, 5)], {}),
  ("Rotated", {}, [(2, 3, 5)], {}),
  ("Model", {}, [(2, 3, 5)], {}),
  ("Model", {"rotated": False}, [(2, 3, 5)], {}),
]
