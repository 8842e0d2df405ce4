"""Functions that make parameters for `setup`, given what only they are given: the constructor and the call need it both."""

import jax.numpy as jnp
import numpy as np
from flax import linen as nn


def posemb_sincos(h, w, width):
  return jnp.sin(jnp.arange(h * w * width, dtype=jnp.float32)).reshape(1, h * w, width)


def get_posemb(mod, kind, seqshape, width, name):
  if kind == "learn":
    return mod.param(name, nn.initializers.normal(stddev=1 / np.sqrt(width)), (1, np.prod(seqshape), width))
  elif kind == "sincos2d":
    return posemb_sincos(*seqshape, width)
  else:
    raise ValueError(kind)


class Grids(nn.Module):
  kind: str = "sincos2d"
  size: tuple = (4, 4)
  patch: tuple = (2, 2)
  dim: int = 6
  def setup(self):
    grid = np.array(self.size) // np.array(self.patch)
    self.pos_a = get_posemb(self, self.kind, grid, self.dim, "pos_a")
    self.pos_b = get_posemb(self, self.kind, (1, 3), self.dim, "pos_b")
    self.conv = nn.Conv(self.dim, self.patch, padding="VALID", strides=self.patch, name="Embed")
    self.out = nn.Dense(3)
  def encode(self, image):
    e = self.conv(image)
    e = e.reshape(e.shape[0], -1, e.shape[-1])
    return e + self.pos_a
  def __call__(self, image):
    y = self.encode(image)
    return self.out(y[:, :3] + self.pos_b)


CASES = [
  ("Grids", {}, [(2, 4, 4, 3)], {}),
  ("Grids", {"kind": "learn"}, [(2, 4, 4, 3)], {}),
]
