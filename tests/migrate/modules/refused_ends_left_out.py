"""Lists of which a class leaves out items that would make variables."""

HEAD = """
import flax.linen as nn
import jax.numpy as jnp
from typing import Sequence

class Bias(nn.Module):
  @nn.compact
  def __call__(self, x):
    return x + self.param("bias", nn.initializers.zeros, (3,))

class Twice(nn.Module):
  def __call__(self, x):
    return jnp.concatenate([x, x], -1)

class M(nn.Module):
  widths: Sequence[int] = (3, 3)
"""

INDENT = 2
REFUSED = {
    "the last of a joined list": (
        "NNX157",
        "def setup(self):\n  self.layers = [nn.Dense(w) for w in self.widths] + [Bias()]\n"
        "def __call__(self, x):\n  for layer in self.layers[:-1]:\n    x = layer(x)\n  return x",
    ),
    "the last of a joined list of the call": (
        "NNX157",
        "@nn.compact\ndef __call__(self, x):\n  layers = [nn.Dense(w) for w in self.widths] + [Bias()]\n"
        "  for layer in layers[:-1]:\n    x = layer(x)\n  return x",
    ),
    "the last of a display": (
        "NNX157",
        "def setup(self):\n  self.layers = [nn.Dense(3), Bias()]\ndef __call__(self, x):\n  return self.layers[0](x)",
    ),
    "an entry of a dict": (
        "NNX157",
        "def setup(self):\n  self.parts = {'a': nn.Dense(3), 'b': Bias()}\n"
        "def __call__(self, x):\n  return self.parts['a'](x)",
    ),
    "the first of what every pass appends": (
        "NNX132",
        "def setup(self):\n  layers = []\n  for _ in self.widths:\n    layers.append(Twice())\n    layers.append(nn.relu)\n"
        "  self.layers = layers\n  self.head = nn.Dense(3)\n"
        "def __call__(self, x):\n  for layer in self.layers[1:]:\n    x = layer(x)\n  return self.head(x)",
    ),
    "a module that every pass appends last": (
        "NNX132",
        "@nn.compact\ndef __call__(self, x):\n  layers = []\n  for w in self.widths:\n"
        "    layers += [nn.Dense(w), Twice()]\n  for layer in layers[:-1]:\n    x = layer(x)\n  return nn.Dense(3)(x)",
    ),
}
