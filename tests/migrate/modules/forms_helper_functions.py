"""Helper functions outside of classes that make layers and parameters for the module that calls them."""

import functools
from typing import Any
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


def conv_block(x, features, name=None, train=True):
  c = x.shape[-1]
  x = nn.Conv(features + c, (3, 3), name=name)(x)
  x = nn.BatchNorm(use_running_average=not train)(x)
  return nn.relu(x)


def get_posemb(self, typ, seqshape, width, name, dtype=jnp.float32):
  if typ == "learn":
    return self.param(name, nn.initializers.normal(stddev=1 / np.sqrt(width)), (1, np.prod(seqshape), width), dtype)
  elif typ == "none":
    return jnp.zeros((1, 1, width), dtype)
  else:
    raise ValueError(typ)


def residual(x, features, project=False):
  y = conv_block(x, features)
  y = conv_block(y, features * 2, train=False)
  if project:
    x = nn.Dense(y.shape[-1])(x)
  else:
    x = jnp.ones_like(y)
  return x + y


class Net(nn.Module):
  posemb: str = "learn"
  width: int = 6
  project: bool = True

  @nn.compact
  def __call__(self, x, train=False):
    x = conv_block(x, self.width, train=train)
    n, h, w, c = x.shape
    x = x.reshape(n, h * w, c)
    x = x + get_posemb(self, self.posemb, (h, w), c, "pos_embedding", x.dtype)
    x = nn.Dense(c)(x)
    x = x + get_posemb(self, "learn", (h, w), c, "second")
    x = x.reshape(n, h, w, c)
    x = residual(x, self.width + 1, project=self.project)
    for i in range(2):
      x = conv_block(x, 5, name=f"block_{i}", train=train)
    return conv_block(x, self.width, name="last", train=train)


class Other(nn.Module):
  @nn.compact
  def __call__(self, x):
    for _ in range(3):
      x = residual(x, 4, project=True)
    return x


CASES = [
  ("Net", {}, [(2, 4, 4, 3)], {}),
  ("Net", {}, [(2, 4, 4, 3)], {"train": True}),
  ("Net", {"posemb": "none", "project": False}, [(2, 4, 4, 3)], {}),
  ("Other", {}, [(2, 4, 4, 3)], {}),
]
