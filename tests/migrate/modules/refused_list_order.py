"""Lists of modules whose items do not come in the order in which they were made, or that Linen counts in another one."""

HEAD = """from collections.abc import Sequence
from flax import linen as nn


class M(nn.Module):
  widths: Sequence[int] = (4, 5, 7)
  flag: bool = True
"""
COMPACT = "@nn.compact\ndef __call__(self, x):\n  layers = [nn.Dense(d) for d in self.widths]\n"
SETUP = "def setup(self):\n  layers = [nn.Dense(d) for d in self.widths]\n"
GOES = "\n  for layer in layers:\n    x = layer(x)\n  return x"

INDENT = 2  # of the bodies below

REFUSED = {
    "turned in place": ("NNX110", COMPACT + "  layers.reverse()" + GOES),
    "turned in place under another name": ("NNX110", COMPACT + "  others = layers\n  others.reverse()" + GOES),
    "turned where a field says so": ("NNX110", COMPACT + "  if self.flag:\n    layers.reverse()" + GOES),
    "an item deleted": ("NNX110", COMPACT + "  del layers[0]" + GOES),
    "the first items": ("NNX110", COMPACT + "  layers = layers[:2]" + GOES),
    "turned in setup": (
        "NNX110",
        SETUP + "  layers.reverse()\n  self.layers = layers\ndef __call__(self, x):" + GOES.replace("layers", "self.layers"),
    ),
    "turned in setup by a slice": (
        "NNX110",
        SETUP + "  self.layers = layers[::-1]\ndef __call__(self, x):" + GOES.replace("layers", "self.layers"),
    ),
    "a list that grew in a loop, turned under another name": (
        "NNX110",
        "def setup(self):\n  layers = [nn.Dense(9)]\n  others = layers\n"
        "  for d in self.widths:\n    layers.append(nn.Dense(d))\n  others.reverse()\n"
        "  self.net = nn.Sequential(layers)\ndef __call__(self, x):\n  return self.net(x)",
    ),
    "left early": (
        "NNX157",
        COMPACT + "  for i, layer in enumerate(layers):\n    if i == 2:\n      break\n    x = layer(x)\n  return x",
    ),
    "two lists of one class side by side": (
        "NNX158",
        COMPACT + "  more = [nn.Dense(d) for d in self.widths]\n"
        "  for layer, other in zip(layers, more):\n    x = other(layer(x))\n  return x",
    ),
    "more of the class in the loop": (
        "NNX158",
        COMPACT + "  for layer in layers:\n    x = nn.Dense(3)(layer(x))\n  return x",
    ),
    "norms before the loop and in it": (
        "NNX158",
        COMPACT + "  x = nn.LayerNorm(use_bias=False)(x)\n  more = [nn.Conv(d, (1,)) for d in self.widths]\n"
        "  for layer in layers:\n    x = nn.LayerNorm()(layer(x))\n  for layer in more:\n    x = layer(x)\n  return x",
    ),
    "the first item for another input, and then the others": (
        "NNX114",
        "def setup(self):\n  self.layers = [nn.Dense(d) for d in self.widths]\ndef __call__(self, x, y):\n"
        "  x = self.layers[0](y)\n  for layer in self.layers[1:]:\n    x = layer(x)\n  return x",
    ),
}
