"""Functions that make modules and go through others: by which names they are called there differs between callers."""

HEAD = """import functools

import jax.numpy as jnp
from flax import linen as nn


def embedding(width):
  def embed(x):
    return nn.Dense(width)(x)
  return embed


def concatenated(f):
  @functools.wraps(f)
  def called(*args):
    return f(jnp.concatenate(args, -1))
  return called


"""
REFUSED = {
    "by a decorator of the project": (
        "NNX134",
        """def perceptron(width):
  @concatenated
  def update(x):
    return nn.Dense(width)(x)
  return update


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return perceptron(4)(x, x)
""",
    ),
    "by a wrapper that keeps its name": (
        "NNX134",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return concatenated(embedding(4))(x, x)
""",
    ),
}
