"""Modules that are called again with what was None at first, and make more then: the constructor makes those of one call."""

HEAD = """from flax import linen as nn


class Mixed(nn.Module):
  @nn.compact
  def __call__(self, x, bias=None):
    if bias is not None:
      x = x + nn.Dense(6)(bias)
    return x, nn.Dense(6, name='bias')(x)


class Outer(nn.Module):
  @nn.compact
  def __call__(self, x, memory):
    return Mixed()(nn.Dense(6)(x), memory)


"""
REFUSED = {
    "one module of setup in every pass": (
        "NNX132",
        """class M(nn.Module):
  def setup(self):
    self.block = Mixed()
  def __call__(self, x):
    bias = None
    for _ in range(3):
      x, bias = self.block(x, bias)
    return x
""",
    ),
    "one that hands it on": (
        "NNX132",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    held, outer = None, Outer()
    for _ in range(3):
      x, held = outer(x, held)
    return x
""",
    ),
    "a list that is gone through twice": (
        "NNX132",
        """class M(nn.Module):
  def setup(self):
    self.blocks = [Mixed() for _ in range(2)]
  def __call__(self, x):
    held = None
    for _ in range(2):
      for block in self.blocks:
        x, held = block(x, held)
    return x
""",
    ),
}
