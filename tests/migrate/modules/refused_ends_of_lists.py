"""Sizes of what stands last in a list that changes where that cannot be followed; fields by sizes of one call."""

HEAD = """from collections.abc import Sequence
import jax
import jax.numpy as jnp
from flax import linen as nn


def push(stack, x):
  stack.append(x)


class Flat(nn.Module):
  height: int
  def setup(self):
    self.dense = nn.Dense(2)
  def __call__(self, x):
    return self.dense(x.reshape(x.shape[0], self.height, -1, x.shape[-1]))


class Strided(nn.Module):
  strides: Sequence[int]
  @nn.compact
  def __call__(self, x):
    return nn.Conv(3, (3, 3), self.strides)(x)


class M(nn.Module):
  count: int = 2
  at: Sequence[int] = (4,)
  keep: bool = False
  @nn.compact
  def __call__(self, x, flag: bool = False):
    hs = [x]
"""

INDENT = 4  # of the bodies below
ASKED = """
  if hs[-1].shape[1] in self.at:
    hs.append(nn.Dense(4)(hs[-1]))
return nn.Dense(2)(hs[-1])"""
FILLED = "for i in range(self.count):\n  h = nn.Conv(4, (3, 3), (2, 2))(hs[-1])\n  "

REFUSED = {
    "a function within the method fills it": (
        "NNX110",
        "def put(v):\n  if self.keep:\n    hs.append(v)\n" + FILLED + "put(h)" + ASKED,
    ),
    "another function fills it": ("NNX110", FILLED + "push(hs, h)" + ASKED),
    "it has another name": ("NNX110", "other = hs\n" + FILLED + "other.append(h)" + ASKED),
    "the call decides if it grows": ("NNX110", FILLED + "if flag:\n    hs.append(h)" + ASKED),
    "its last item is replaced": ("NNX110", FILLED + "hs[-1] = h" + ASKED),
    "it grows at its beginning": ("NNX110", FILLED + "hs.insert(0, h)" + ASKED),
    "items are taken from it": ("NNX110", FILLED + "hs.append(h)\n  hs.append(h)\n  h = hs.pop()" + ASKED),
    "a height that a loop follows": (
        "NNX113",
        "for i in range(self.count):\n  x = nn.Conv(4, (3, 3), (2, 2))(x)\nreturn Flat(x.shape[1])(x)",
    ),
    "a height of one side of a condition": (
        "NNX113",
        "if self.count > 1:\n  x = nn.Conv(4, (3, 3), (2, 2))(x)\nreturn Flat(x.shape[1])(x)",
    ),
    "strides by a height, handed to a class": (
        "NNX113",
        "n = 2 if x.shape[1] > 4 else 1\nreturn Strided((n, n))(x)",
    ),
}
