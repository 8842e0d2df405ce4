"""Partials of factories that a condition chooses, and choices handed to fields; `CASES` as in forms_basic."""
from functools import partial
from typing import Any
import flax.linen as nn
import jax.numpy as jnp

class Expression(nn.Module):
  big: bool = False
  @nn.compact
  def __call__(self, x):
    Norm = nn.LayerNorm if self.big else nn.RMSNorm
    norm = partial(Norm, epsilon=1e-2)
    x = norm()(nn.Dense(6)(x))
    return norm(epsilon=1e-1)(x)

class Statement(nn.Module):
  norm: str = 'layer'
  @nn.compact
  def __call__(self, x):
    if self.norm == 'layer':
      Norm = nn.LayerNorm
    elif self.norm == 'rms':
      Norm = nn.RMSNorm
    else:
      raise ValueError(self.norm)
    norm = partial(Norm, param_dtype=jnp.float32)
    return nn.Dense(3)(norm()(x))

class Positional(nn.Module):
  big: bool = False
  @nn.compact
  def __call__(self, x):
    dense = partial(nn.Dense, 4) if self.big else partial(nn.Dense, 5, False)
    norm = partial(nn.BatchNorm, False) if self.big else partial(nn.BatchNorm, True, -1, 0.5)
    return norm()(dense()(x))

class Numbered(nn.Module):
  big: bool = False
  @nn.compact
  def __call__(self, x):
    Norm = nn.LayerNorm if self.big else nn.RMSNorm
    for i in range(2):
      norm = partial(Norm, epsilon=10.0 ** -i)
      x = norm(name=f'norm{i}')(x)
    return x

class Inner(nn.Module):
  norm: Any = nn.LayerNorm
  @nn.compact
  def __call__(self, x):
    return self.norm()(x)

class Given(nn.Module):
  big: bool = False
  kind: str = 'rms'
  @nn.compact
  def __call__(self, x):
    x = Inner(norm=nn.LayerNorm)(x)
    x = Inner(norm=nn.LayerNorm if self.big else nn.RMSNorm)(x)
    return Inner(norm={'layer': nn.LayerNorm, 'rms': nn.RMSNorm}[self.kind])(x)

class OfTwoInputs(nn.Module):
  @nn.compact
  def __call__(self, x, y):
    z = x + nn.Dense(y.shape[-1])(x)
    return nn.LayerNorm()(z)

class Shared(nn.Module):  # stays Linen with its heir, as their norms differ: so do the layers they name
  norm: Any = nn.LayerNorm
  @nn.compact
  def __call__(self, x):
    return self.norm()(nn.Dense(4)(x))

class Heir(Shared):
  norm: Any = nn.RMSNorm

class Wraps(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Shared()(Heir()(x))

CASES = [
  ('Wraps', {}, [(3, 6)], {}),
  ('Expression', {}, [(3, 6)], {}),
  ('Expression', {'big': True}, [(3, 6)], {}),
  ('Statement', {}, [(3, 6)], {}),
  ('Statement', {'norm': 'rms'}, [(3, 6)], {}),
  ('Positional', {}, [(3, 6)], {}),
  ('Positional', {'big': True}, [(3, 6)], {}),
  ('Numbered', {}, [(3, 6)], {}),
  ('Given', {}, [(3, 6)], {}),
  ('Given', {'big': True, 'kind': 'layer'}, [(3, 6)], {}),
  ('OfTwoInputs', {}, [(3, 6), (3, 6)], {}),
  ('OfTwoInputs', {}, [(3, 1), (3, 5)], {}),
]
