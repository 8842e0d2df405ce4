"""Loops of compact methods over lists of `setup` that make more modules, where setup's own loop cannot be said again."""

HEAD = """import jax.numpy as jnp
from flax import linen as nn


class M(nn.Module):
  widths: tuple = (4, 8)
  others: tuple = (4, 8)
"""
SETUP = "def setup(self):\n  self.layers = [nn.Dense(width) for width in self.widths]\n"
CALL = "@nn.compact\ndef __call__(self, x):\n"
GOES = CALL + "  for layer in OVER:\n    x = nn.LayerNorm()(layer(x))\n  return x"
CHANGED = """def setup(self):
  widths = self.widths
  self.layers = [nn.Dense(width) for width in widths]
  widths = (1, 2)
  self.heads = [nn.Dense(width) for width in widths]
"""
LOOSE = """def setup(self):
  layers = []
  for width in self.widths:
    width = width + 1
    layers.append(nn.Dense(width))
  self.layers = layers
"""
COUNTED = CALL + "  for i in range(OVER):\n    x = nn.LayerNorm()(self.layers[i](x))\n  return x"
LEFT = (
    CALL
    + """  for layer in self.layers:
    x = nn.LayerNorm()(layer(x))
    if x.shape[-1] > 4:
      break
  return x
"""
)

INDENT = 2  # of the bodies below

REFUSED = {
    "backwards": ("NNX123", SETUP + GOES.replace("OVER", "reversed(self.layers)")),
    "all but the first": ("NNX123", SETUP + GOES.replace("OVER", "self.layers[1:]")),
    "all but the last": ("NNX123", SETUP + COUNTED.replace("OVER", "len(self.layers) - 1")),
    "what setup goes through is another thing behind it": ("NNX123", CHANGED + GOES.replace("OVER", "self.layers")),
    "a width that a pass of setup changes": ("NNX123", LOOSE + GOES.replace("OVER", "self.layers")),
    "some widths only": (
        "NNX123",
        SETUP.replace("self.widths]", "self.widths if width > 4]") + GOES.replace("OVER", "self.layers"),
    ),
    "a name that the call has for something else": (
        "NNX123",
        SETUP
        + GOES.replace("OVER", "self.layers").replace("  for", "  width = 3\n  for").replace("return x", "return x * width"),
    ),
    "a loop that is left": ("NNX123", SETUP + LEFT),
    "a width of setup's loop in a loop over the fields": (
        "NNX114",
        SETUP + COUNTED.replace("OVER", "len(self.widths)").replace("nn.LayerNorm()", "nn.Dense(x.shape[-1] * 2)"),
    ),
    "a loop over another field": (
        "NNX114",
        SETUP + COUNTED.replace("OVER", "len(self.others)"),
    ),
}
