"""Linen's private `_normalize` where what it makes is not known to the constructor: the class stays Linen and says why."""

HEAD = """import jax.numpy as jnp
from flax import linen as nn
from flax.linen.normalization import _compute_stats, _normalize

ones, zeros = nn.initializers.ones, nn.initializers.zeros


class M(nn.Module):
  @nn.compact
  def __call__(self, x, scaled: bool = True):
    mean, var = _compute_stats(x, (-1,), None)
"""
REFUSED = {
    "whether there is a scale is an argument of the call": (
        "NNX111",
        "    return _normalize(self, x, mean, var, (-1,), (-1,), None, jnp.float32, 1e-6, True, scaled, zeros, ones)\n",
    ),
    "the first values depend on the input": (
        "NNX111",
        "    return _normalize(self, x, mean, var, -1, -1, None, jnp.float32, 1e-6, True, True, lambda *_: mean, ones)\n",
    ),
    "the arguments are a list": (
        "NNX135",
        """    args = (None, jnp.float32, 1e-6, True, True, zeros, ones)
    return _normalize(self, x, mean, var, -1, -1, *args)
""",
    ),
    "it is called in a loop": (
        "NNX135",
        """    for _ in range(2):
      x = _normalize(self, x, mean, var, -1, -1, None, jnp.float32, 1e-6, True, True, zeros, ones)
    return x
""",
    ),
}
