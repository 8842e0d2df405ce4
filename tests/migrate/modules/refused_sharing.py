"""Layers applied with other weights, and layers under a transform that is chosen, where they stay Linen."""

HEAD = "import functools\nfrom typing import Any\nimport jax\nimport jax.numpy as jnp\nfrom flax import linen as nn\n\n\n"

REFUSED = {
    "a second name that comes first in the alphabet": (
        "NNX127",
        """class M(nn.Module):
  def setup(self):
    self.embed = nn.Embed(7, 4)
    self.decoder = self.embed
    self.dense = nn.Dense(4)
  def __call__(self, ids):
    return self.decoder.attend(self.dense(self.embed(ids)))
""",
    ),
    "a convolution applied with other weights, and called": (
        "NNX149",
        """class M(nn.Module):
  def setup(self):
    self.conv = nn.Conv(4, (3,))
    self.weight = self.param('weight', nn.initializers.ones, (3, 2, 4))
  def __call__(self, x):
    return self.conv(x) + self.conv.apply({'params': {'kernel': self.weight}}, x)
""",
    ),
    "a layer applied with variables from the call, and called": (
        "NNX149",
        """class M(nn.Module):
  def setup(self):
    self.dense = nn.Dense(4)
  def __call__(self, x, variables):
    return self.dense(x) + self.dense.apply(variables, x)
""",
    ),
    "one of two modules, one under remat by a condition of the call": (
        "NNX130",
        """class M(nn.Module):
  def setup(self):
    self.a = nn.Dense(4)
    self.b = nn.remat(nn.Dense)(4)
  def __call__(self, x, cheap: bool = False):
    layer = self.b if cheap else self.a
    return layer(x)
""",
    ),
    "a class under remat that setup keeps": (
        "NNX130",
        """class M(nn.Module):
  def setup(self):
    Saved = nn.remat(nn.Dense)
    self.layer = Saved(4)
    self.kind = str(Saved)
  def __call__(self, x):
    return self.layer(x)
""",
    ),
}
