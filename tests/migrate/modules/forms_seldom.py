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


def check_sum(numbers, most=None):
  if most is not None and sum(numbers) > most:
    raise ValueError(f'{numbers} are more than {most}')


class Checked(nn.Module):
  """A class that checks its fields."""

  width: int
  depth: int = 1

  def __post_init__(self):
    """Raises where they do not fit."""
    super().__post_init__()
    total = self.width * self.depth
    if total < 1:
      raise ValueError(f'{self.width} x {self.depth} is nothing')
    assert total < 100, 'too large'
    check_sum([self.width, self.depth], most=200)

  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.width)(x)


class CheckedMore(Checked):
  kind: str = 'sum'

  def __post_init__(self):
    if self.kind not in ('sum', 'mean'):
      raise ValueError(self.kind)
    super().__post_init__()

  @nn.compact
  def __call__(self, x):
    y = super().__call__(x)
    return y.sum() if self.kind == 'sum' else y.mean()


class Nothing(nn.Module):
  def __post_init__(self):
    super().__post_init__()

  def setup(self):
    self.dense = nn.Dense(3)

  def __call__(self, x):
    return self.dense(x)


class Stages(nn.Module):
  """A tuple whose length other classes change by its default only."""

  film: bool = False
  layers: tuple = tuple()

  @nn.compact
  def __call__(self, x):
    x = nn.Dense(4, name='root')(x)
    if self.layers:
      x = nn.Dense(self.layers[0], name='first')(x)
      for i, n in enumerate(self.layers[1:], 1):
        x = nn.Dense(n, name=f'b{i}')(x)
        if self.film:
          x = x * nn.Dense(x.shape[-1])(x)
    elif self.film:
      x = x * nn.Dense(x.shape[-1])(x)
    return x


class ThreeStages(Stages):
  film: bool = True
  layers: tuple = (3, 5, 6)


class TwoStages(Stages):
  layers: tuple = (3, 5)


CASES = [
  ('Stages', {'layers': (3, 4)}, [(2, 4)], {}),
  ('Stages', {'film': True}, [(2, 4)], {}),
  ('ThreeStages', {}, [(2, 4)], {}),
  ('TwoStages', {}, [(2, 4)], {}),
  ('Checked', {'width': 3}, [(2, 4)], {}),
  ('CheckedMore', {'width': 3, 'kind': 'mean'}, [(2, 4)], {}),
  ('Nothing', {}, [(2, 4)], {}),
  ('Named', {}, [(2, 4)], {}),
  ('Outer', {}, [(2, 4)], {}),
]
