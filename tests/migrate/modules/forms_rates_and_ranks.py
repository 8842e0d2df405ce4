"""Rates of stochastic depth from lists, and branches that leave arrays of different ranks; `CASES` as in forms_basic."""
from typing import Any, Optional, Sequence
import flax.linen as nn
import jax.numpy as jnp
import numpy as np

class Block(nn.Module):
  dim: int
  rate: float = 0.0
  @nn.compact
  def __call__(self, x, deterministic=True):
    y = nn.Dense(self.dim, bias_init=nn.initializers.constant(self.rate))(x)
    return x + nn.Dropout(self.rate)(y, deterministic=deterministic) * (1 + self.rate)

class Items(nn.Module):
  depths: Sequence[int] = (2, 1)
  rate: float = 0.3
  @nn.compact
  def __call__(self, x, deterministic=True):
    rates = [v.item() for v in jnp.linspace(0, self.rate, sum(self.depths))]
    current = 0
    for i in range(self.depths[0]):
      x = Block(6, rates[current + i])(x, deterministic)
    current += self.depths[0]
    x = nn.LayerNorm()(x)
    for i in range(self.depths[1]):
      x = Block(6, rates[current + i])(x, deterministic)
    return x

class Stages(nn.Module):
  depths: Sequence[int] = (2, 1)
  rate: float = 0.3
  @nn.compact
  def __call__(self, x, deterministic=True):
    rates = [float(v) for v in np.linspace(0, self.rate, sum(self.depths))]
    current = 0
    for depth in self.depths:
      for i in range(depth):
        x = Block(6, rates[current + i])(x, deterministic)
      current += depth
    return x

class Head(nn.Module):
  hidden: int = 8
  flat: Any = True
  pool: str = 'first'
  width: Optional[int] = None
  @nn.compact
  def __call__(self, inputs):
    x = nn.Conv(self.hidden, (2, 2), (2, 2))(inputs)
    if self.flat is not None:
      n, h, w, c = x.shape
      x = jnp.reshape(x, [n, h * w, c])
    if self.pool == 'first':
      x = x[:, 0]
    elif self.pool == 'mean':
      x = jnp.mean(x, axis=list(range(1, x.ndim - 1)))
    elif self.pool != 'none':
      raise ValueError(f'Invalid pool={self.pool}')
    if self.width is not None:
      x = nn.tanh(nn.Dense(self.width)(x))
    return nn.Dense(3)(x)

CASES = [
  ('Items', {}, [(3, 6)], {}),
  ('Items', {'depths': (1, 3)}, [(3, 6)], {}),
  ('Stages', {}, [(3, 6)], {}),
  ('Stages', {'depths': (1, 0, 3)}, [(3, 6)], {}),
  ('Head', {}, [(2, 4, 4, 3)], {}),
  ('Head', {'pool': 'mean', 'width': 5}, [(2, 4, 4, 3)], {}),
  ('Head', {'pool': 'mean', 'flat': None}, [(2, 4, 4, 3)], {}),
  ('Head', {'pool': 'none', 'flat': None}, [(2, 4, 4, 3)], {}),
]
