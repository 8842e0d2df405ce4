"""Functions that `setup` keeps and that cannot be methods."""

HEAD = """
import flax.linen as nn
import jax
import jax.numpy as jnp

class M(nn.Module):
  width: int = 4
  learned: bool = True
  def setup(self):
    self.proj = nn.Dense(self.width)
    factor = self.width * 2
"""

INDENT = 2
CALL = "\ndef __call__(self, x):\n  return self.encode(x)"
REFUSED = {
    "a name of setup": ("NNX180", "  self.encode = lambda x: self.proj(factor * x)" + CALL),
    "a default": ("NNX180", "  self.encode = lambda x, y=2: self.proj(y * x)" + CALL),
    "assigned twice": (
        "NNX180",
        "  self.encode = lambda x: self.proj(x)\n  self.encode = lambda x: self.proj(2 * x)" + CALL,
    ),
    "called by setup, too": (
        "NNX180",
        "  self.encode = lambda x: self.proj(x)\n  self.start = self.encode(jnp.ones((1, 3)))" + CALL,
    ),
    "handed on": (
        "NNX180",
        "  self.encode = lambda x: self.proj(x)\ndef __call__(self, x):\n  return jax.lax.map(self.encode, x)",
    ),
}
