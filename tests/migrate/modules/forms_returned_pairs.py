"""Methods that return one pair of arrays or another, by fields; `CASES` as in forms_basic."""

from typing import Any
import jax
import jax.numpy as jnp
from flax import linen as nn


class Noise(nn.Module):
  classes: int
  factors: int
  efficient: bool = False
  latent: int | None = None

  def setup(self):
    if self.latent is None:
      self.width = self.classes
    else:
      self.width = self.latent
    if self.efficient:
      self.plain = nn.Dense(self.width)
      self.scaled = nn.Dense(self.width)
    elif self.factors > 0:
      self.loadings = nn.Dense(self.width * self.factors)
    self.diagonal = nn.Dense(self.width)

  def scale(self, x):
    if self.efficient or self.factors <= 0:
      return x, jax.nn.softplus(self.diagonal(x))
    return self.loadings(x), jax.nn.softplus(self.diagonal(x)) + 1

  def samples(self, scale, count):
    loadings, diagonal = scale
    if self.factors > 0:
      drawn = jnp.ones((loadings.shape[0], count, self.factors))
      if self.efficient:
        found = self.plain(drawn)
        found *= jnp.expand_dims(self.scaled(loadings), 1)
      else:
        loadings = loadings.reshape(-1, self.width, self.factors)
        found = jnp.einsum('ijk,iak->iaj', loadings, drawn)
      return found + diagonal[:, None]
    return diagonal[:, None]

  def __call__(self, x):
    scale = self.scale(x)
    return self.samples(scale, 3)


class Loud(Noise):
  def setup(self):
    super().setup()
    self.loud = nn.Dense(3)
  def scale(self, x):
    first, second = super().scale(x)
    return first, second + self.loud(first).sum()


class Either(nn.Module):
  wide: bool = False
  @nn.compact
  def __call__(self, x):
    first, second = self.pair(x)
    return nn.Dense(2)(first) + nn.Dense(2)(second)
  def pair(self, x):
    if self.wide:
      return jnp.concatenate([x, x], -1), x
    return x, x[..., :2]


CASES: list[Any] = [
    ('Noise', dict(classes=4, factors=2), [(2, 5)], dict()),
    ('Noise', dict(classes=4, factors=2, efficient=True), [(2, 5)], dict()),
    ('Noise', dict(classes=4, factors=0, latent=3), [(2, 5)], dict()),
    ('Loud', dict(classes=4, factors=2), [(2, 5)], dict()),
    ('Loud', dict(classes=4, factors=2, efficient=True, latent=3), [(2, 5)], dict()),
    ('Either', dict(), [(2, 5, 3)], dict()),
    ('Either', dict(wide=True), [(2, 5, 3)], dict()),
]
