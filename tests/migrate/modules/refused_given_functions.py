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


def over_parts(first=None, second=None):
  same = lambda x: x
  first_or_same = first if first else same
  second_or_same = second if second else same
  def run(pair):
    return first_or_same(pair[0]), second_or_same(pair[1])
  return run


def twice(f, x):
  return f(f(x))


"""
REFUSED = {
    "by a closure that others fill otherwise": (
        "NNX135",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return over_parts(first=embedding(4), second=embedding(5))((x, x))


class Other(nn.Module):
  @nn.compact
  def __call__(self, x):
    return over_parts(second=embedding(3))((x, x))
""",
    ),
    "by a parameter": (
        "NNX135",
        """def dense(x):
  return nn.Dense(3)(x)


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return twice(dense, x)
""",
    ),
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
