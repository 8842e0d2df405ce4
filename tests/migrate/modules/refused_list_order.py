"""Lists of modules whose items do not come in the order in which they were made, or that Linen counts in another one."""

HEAD = """from collections.abc import Sequence
import jax.numpy as jnp
from flax import linen as nn


class M(nn.Module):
  widths: Sequence[int] = (4, 5, 7)
  others: Sequence[int] = (1, 2, 3)
  flag: bool = True
"""
COMPACT = "@nn.compact\ndef __call__(self, x):\n  layers = [nn.Dense(d) for d in self.widths]\n"
SETUP = "def setup(self):\n  layers = [nn.Dense(d) for d in self.widths]\n"
GOES = "\n  for layer in layers:\n    x = layer(x)\n  return x"
CALLED = """def __call__(self, x):
  y = 0.0
  for i in range(len(self.widths)):
    y = y + self.layers[i](jnp.ones((2, self.widths[i])))
  return x + y
"""
PASS = "def setup(self):\n  self.layers = [nn.Dense(3) for i in OVER]\n" + CALLED
SOME = """def setup(self):
  self.first = nn.Dense(3)
  self.layers = [nn.Dense(3) for _ in range(len(self.widths))]
def __call__(self, x):
  x = self.first(x)
"""

COUNTED = SOME + "  for i in range(OVER):\n    x = self.layers[ITEM](x)\n  return x"


def counted(over: str, item: str = "i", more: str = "") -> str:
    return COUNTED.replace("OVER", over).replace("ITEM", item) + more


BACK = "reversed(range(len(self.widths) - 1))"
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
        "NNX121",
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
    "a size of the call's pass, of a list made the other way round": (
        "NNX114",
        PASS.replace("OVER", "reversed(range(len(self.widths)))"),
    ),
    "a size of the call's pass, of a longer list": ("NNX114", PASS.replace("OVER", "range(len(self.widths) + 1)")),
    "a size of the call's pass, of another field's list": ("NNX114", PASS.replace("OVER", "self.others")),
    "a number of the pass that setup changes": (
        "NNX114",
        """def setup(self):
  layers = []
  for i in range(len(self.widths)):
    i = i - 1
    layers.append(nn.Dense(3))
  self.layers = layers
"""
        + CALLED,
    ),
    "a number of the pass that the call changes": (
        "NNX114",
        PASS.replace("OVER", "range(len(self.widths))").replace("    y =", "    i = (i + 1) % 3\n    y ="),
    ),
    "one module that every pass gives its own size": (
        "NNX114",
        "def setup(self):\n  self.layer = nn.Dense(3)\n" + CALLED.replace("self.layers[i]", "self.layer"),
    ),
    "the first item of a list": ("NNX157", SOME + "  return self.layers[0](x)"),
    "the first items of a list of setup": ("NNX157", SOME + "  for layer in self.layers[:2]:\n    x = layer(x)\n  return x"),
    "all items but the first": ("NNX157", SOME + "  for layer in self.layers[1:]:\n    x = layer(x)\n  return x"),
    "all items but the last": ("NNX157", SOME + "  for layer in self.layers[:-1]:\n    x = layer(x)\n  return x"),
    "all items but the first, counted": ("NNX157", counted("1, len(self.layers)")),
    "all items but the first, by the next number": ("NNX157", counted("len(self.widths) - 1", "i + 1")),
    "all items but the last, backwards": ("NNX157", counted("OVER").replace("range(OVER)", BACK)),
    "all items but the last, in a comprehension": (
        "NNX157",
        SOME + "  return sum([self.layers[i](x) for i in range(len(self.layers) - 1)])",
    ),
    "all items but the last, and the first again": ("NNX157", counted("len(self.layers) - 1", more=" + self.layers[0](x)")),
    "all items but one in the middle": ("NNX157", counted("len(self.layers) - 2", more=" + self.layers[-1](x)")),
    "all items but the last, in passes of their own": (
        "NNX157",
        SOME + "  for i in range(len(self.layers) - 1):\n    if i > 0:\n      x = self.layers[i](x)\n  return x",
    ),
    "all items but the last, the number changed": (
        "NNX157",
        SOME + "  for i in range(len(self.layers) - 1):\n    i = 0\n    x = self.layers[i](x)\n  return x",
    ),
    "all items but the last beside a shorter list": (
        "NNX157",
        SOME + "  for layer, _ in zip(self.layers, range(len(self.widths) - 1)):\n    x = layer(x)\n  return x",
    ),
    "two of three items": (
        "NNX157",
        SOME.replace("len(self.widths)", "3") + "  for layer in self.layers[:2]:\n    x = layer(x)\n  return x",
    ),
    "a width that setup changes before it makes the layer that is given it": (
        "NNX114",
        """def setup(self):
  dense, norms = [], []
  for w in self.widths:
    dense.append(nn.Dense(w))
    w = w + 1
    norms.append(nn.LayerNorm(epsilon=1.0 / w))
  self.dense, self.norms = dense, norms
def __call__(self, x):
  for d, n in zip(self.dense, self.norms):
    x = n(d(x))
  return x
""",
    ),
}
