"""Functions that make parameters for `setup`: where the constructor cannot say when, or under what name."""

HEAD = """from flax import linen as nn
import jax.numpy as jnp


def scale(module, name, width):
  return 2.0 * module.param(name, nn.initializers.ones, (width,))


def scale_and_width(module, name, width):
  wide = width * 2
  return module.param(name, nn.initializers.ones, (wide,))


def make(width, *, variant=None, **kw):
  return Inner(width, **{**variant_of(variant), **kw})


def variant_of(name):
  return {} if name is None else {"bias": name == "biased"}


class Inner(nn.Module):
  width: int
  bias: bool = True

  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.width, use_bias=self.bias)(x)


class M(nn.Module):
  width: int = 3
  which: str = "scale"
"""

INDENT = 2  # of the bodies below

REFUSED = {
    "a name that only setup can say": (
        "NNX135",
        """def setup(self):
  self.scale = scale(self, self.which, self.width)
def __call__(self, x):
  return x * self.scale""",
    ),
    "a parameter that setup changes, read by several methods": (
        "NNX180",
        """def setup(self):
  self.w = self.param("w", nn.initializers.ones, (3,))
  self.w += 1
def half(self, x):
  return x * self.w / 2
def __call__(self, x):
  return self.half(x) * self.w""",
    ),
    "calls in a loop": (
        "NNX135",
        """def setup(self):
  for i in range(2):
    self.scale = scale(self, "scale", self.width)
def __call__(self, x):
  return x * self.scale""",
    ),
    "a variant whose fields the call does not show": (
        "NNX137",
        """@nn.compact
def __call__(self, x):
  return make(self.width, variant=self.which)(x)""",
    ),
}
