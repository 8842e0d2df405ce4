"""Seldom constructs of Linen's modules; `CASES` as in forms_basic."""

import logging

import flax.linen as nn
import jax
import jax.numpy as jnp


class Named(nn.Module):
  """The name of the module, where only people read it."""

  width: int = 3

  @nn.compact
  def __call__(self, x):
    if x.ndim < 2:
      raise ValueError(f'{self.name}: {x.shape} has too few dimensions')
    logging.info('%s at %s has the input %s', self.name, '/'.join(self.path), x.shape)
    assert x.shape[-1] > 0, f'nothing for {self.name}'
    with jax.named_scope(f'{self.name}/dense'):
      return nn.Dense(self.width)(x)


class Outer(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Named(name='inner')(Named()(x))


CASES = [
  ('Named', {}, [(2, 4)], {}),
  ('Outer', {}, [(2, 4)], {}),
]
