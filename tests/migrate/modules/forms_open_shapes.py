"""Shapes of which the last sizes are spelled out and those before them are not; `CASES` as in forms_basic."""
from typing import Callable, Optional, Sequence
import jax
import jax.numpy as jnp
import flax.linen as nn

class Resized(nn.Module):
  size: Optional[tuple] = None
  @nn.compact
  def __call__(self, x):
    if self.size is not None:
      x = jax.image.resize(x, (*x.shape[:-3], *self.size, x.shape[-1]), 'bilinear')
    return nn.Conv(4, (3, 3))(x / 255.0)

class ThreeColours(nn.Module):
  size: Sequence[int] = (4, 4)
  @nn.compact
  def __call__(self, x):
    x = jax.image.resize(x, (x.shape[0], *self.size, 3), 'bilinear')
    return nn.Conv(4, (3, 3))(x)

class Filled(nn.Module):
  size: Sequence[int] = (4, 4)
  @nn.compact
  def __call__(self, x):
    zeros = jnp.zeros((x.shape[0], *self.size, 5))
    mean = jnp.broadcast_to(x.mean((1, 2), keepdims=True), (x.shape[0], *self.size, x.shape[-1]))
    return nn.Conv(4, (3, 3))(jnp.concatenate([zeros, mean], -1))

class Quantiles(nn.Module):
  width: int = 6
  distortion: Callable = lambda tau: tau
  draw: Optional[Callable] = None
  @nn.compact
  def __call__(self, x):
    tau = self.draw(x) if self.draw is not None else x[:, 0]
    tau = self.distortion(tau)
    angles = jnp.pi * jnp.outer(tau, jnp.arange(self.width))
    return nn.Dense(3)(jnp.cos(angles)) * nn.Dense(3)(x)

CASES = [
  ('Resized', {}, [(2, 8, 8, 3)], {}),
  ('Resized', {'size': (4, 4)}, [(2, 8, 8, 3)], {}),
  ('ThreeColours', {}, [(2, 8, 8, 3)], {}),
  ('Filled', {}, [(2, 8, 8, 3)], {}),
  ('Quantiles', {}, [(2, 4)], {}),
  ('Quantiles', {'draw': lambda x: x[:, 1], 'distortion': lambda tau: 0.8 * tau}, [(2, 4)], {}),
]
