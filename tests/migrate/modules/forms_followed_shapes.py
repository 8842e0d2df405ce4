"""Arrays that a condition gives more dimensions, or fewer, where all of their shape counts; `CASES` as in forms_basic."""
from typing import Any, Callable, Optional, Sequence, Type

import flax.linen as nn
import jax.numpy as jnp


class Flatten(nn.Module):
  @nn.compact
  def __call__(self, x):
    return x.reshape((x.shape[0], -1))

class Pixels(nn.Module):
  features: int = 16
  @nn.compact
  def __call__(self, x):
    x = nn.relu(nn.Conv(4, (3, 3), strides=(2, 2), padding="VALID")(x))
    return nn.Dense(self.features)(x.reshape((x.shape[0], -1)))

class Sites(nn.Module):
  """Asks for more than the last dimension, of an array of any rank."""
  features: int
  @nn.compact
  def __call__(self, x):
    kernel = self.param("kernel", nn.initializers.normal(), (self.features, x.shape[-2], x.shape[-1]))
    return jnp.einsum("...ij,oij->...o", x, kernel)

class Actor(nn.Module):
  """An input of any rank, or what a module makes of it."""
  sizes: Sequence[int] = (4, 4)
  extractor: Optional[Type[nn.Module]] = None
  @nn.compact
  def __call__(self, x):
    if self.extractor is not None:
      x = self.extractor(12)(x)
    x = Flatten()(x)
    for size in self.sizes:
      x = nn.tanh(nn.Dense(size)(x))
    return nn.Dense(1)(x)

class WithPixels(nn.Module):
  pixels: bool = False
  @nn.compact
  def __call__(self, x):
    return Actor(extractor=Pixels if self.pixels else None)(x)

class ByFlag(nn.Module):
  pixels: bool = False
  @nn.compact
  def __call__(self, x):
    if self.pixels:
      x = Pixels(7)(x)
    else:
      x = x * 2.0
    return nn.Dense(3)(Flatten()(x))

class Otherwise(nn.Module):
  """The side that changes nothing comes first; another condition within."""
  pixels: bool = False
  wide: bool = False
  @nn.compact
  def __call__(self, x):
    if not self.pixels:
      x = nn.relu(x)
    else:
      if self.wide:
        x = Pixels(9)(x)
      else:
        x = Pixels(7)(x)
    y = Flatten()(x)
    return nn.Dense(3)(y) + nn.Dense(3, use_bias=False)(y)

class SitesOfAny(nn.Module):
  """A dimension is put in where there are too few."""
  @nn.compact
  def __call__(self, x):
    if x.ndim < 3:
      x = jnp.expand_dims(x, -2)
    return Sites(5)(x)

class OwnSites(nn.Module):
  scale: float = 1.0
  def setup(self):
    self.out = nn.Dense(3)
  @nn.compact
  def __call__(self, x):
    if x.ndim < 3:
      x = jnp.expand_dims(x, -2)
    kernel = self.param("kernel", nn.initializers.normal(), (4, x.shape[-2], x.shape[-1]))
    return self.out(jnp.einsum("...ij,oij->...o", x, kernel)) * self.scale

class Twice(nn.Module):
  """Followed through two conditions, one after the other."""
  pixels: bool = False
  @nn.compact
  def __call__(self, x):
    if self.pixels:
      x = Pixels(6)(x)
    if x.ndim == 2:
      x = x[..., None, :]
    return Sites(4)(x)

CASES = [
  ("Actor", {}, [(2, 5)], {}),
  ("Actor", {}, [(2, 5, 3)], {}),
  ("Actor", {"extractor": Pixels}, [(2, 9, 9, 3)], {}),
  ("WithPixels", {}, [(2, 9, 9, 3)], {}),
  ("WithPixels", {"pixels": True}, [(2, 9, 9, 3)], {}),
  ("ByFlag", {}, [(2, 5, 3)], {}),
  ("ByFlag", {"pixels": True}, [(2, 9, 9, 3)], {}),
  ("Otherwise", {}, [(2, 5, 3)], {}),
  ("Otherwise", {"pixels": True}, [(2, 9, 9, 3)], {}),
  ("Otherwise", {"pixels": True, "wide": True}, [(2, 9, 9, 3)], {}),
  ("SitesOfAny", {}, [(2, 5)], {}),
  ("SitesOfAny", {}, [(2, 4, 5)], {}),
  ("OwnSites", {}, [(2, 5)], {}),
  ("OwnSites", {}, [(2, 4, 5)], {}),
  ("Twice", {}, [(2, 5)], {}),
  ("Twice", {}, [(2, 4, 5)], {}),
  ("Twice", {"pixels": True}, [(2, 9, 9, 3)], {}),
]
