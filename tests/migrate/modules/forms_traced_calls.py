"""Calls within functions that JAX traces by themselves, of modules that draw nothing there; `CASES` as in forms_basic."""

import functools

import jax
import jax.numpy as jnp
from flax import linen as nn


class SilentDropout(nn.Module):
  """The Dropout is told to let everything through where a transform has it."""

  @nn.compact
  def __call__(self, x):
    drop = nn.Dropout(0.5)
    dense = nn.Dense(4)
    y = dense(x)

    def row(v):
      return drop(dense(v), deterministic=True)

    return jax.vmap(row)(x) + drop(y, deterministic=True)


class SilentAttention(nn.Module):
  """Attention that is made to draw nothing."""

  @nn.compact
  def __call__(self, x):
    attend = nn.MultiHeadDotProductAttention(2, dropout_rate=0.5, deterministic=True)
    y = attend(x, x)
    return jax.vmap(lambda v: attend(v, v))(x) + y


class DropsBeside(nn.Module):
  """The draw stands beside what is rematerialized, and in a function that only goes over a tree."""

  @nn.compact
  def __call__(self, x, deterministic=True):
    drop = nn.Dropout(0.5)
    dense = nn.Dense(4)
    x = dense(x)

    @functools.partial(jax.checkpoint, prevent_cse=False)
    def inner(v):
      return jnp.tanh(v)

    def regular(v):
      return drop(v, deterministic=deterministic)

    return sum(jax.tree.leaves(jax.tree.map(regular, {"a": inner(x), "b": x})))


CASES = [
    ("SilentDropout", {}, [(3, 5)], {}),
    ("SilentAttention", {}, [(2, 3, 4)], {}),
    ("DropsBeside", {}, [(3, 5)], {}),
]
