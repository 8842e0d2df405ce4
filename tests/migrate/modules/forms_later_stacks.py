"""Ensembles of a width that only a call on shapes shows; `CASES` as in forms_basic."""

from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp


class MLP(nn.Module):
  dims: tuple[int, ...]

  @nn.compact
  def __call__(self, x, scale=1.0):
    for d in self.dims:
      x = nn.tanh(nn.Dense(d)(x))
    return x * scale


def ensemble(cls, members, in_axes=None):
  return nn.vmap(
      cls, variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=in_axes, out_axes=0, axis_size=members
  )


class Critics(nn.Module):
  members: int = 3

  @nn.compact
  def __call__(self, x):
    parts = [v for v in jax.tree.leaves({'x': x, 'square': x**2})]
    return ensemble(MLP, self.members)((5, 2))(jnp.concatenate(parts, -1))


class CriticsOfSetup(nn.Module):
  members: int = 2

  def setup(self):
    made = MLP
    if self.members > 1:
      made = ensemble(made, self.members)
    self.net = made((5, 2))

  def __call__(self, x):
    parts = [v for v in jax.tree.leaves({'x': x, 'square': x**2})]
    return self.net(jnp.concatenate(parts, -1)) + self.net(jnp.concatenate(parts, -1) * 2.0)


class EachItsOwn(nn.Module):
  """Each member is called with a part of the input."""

  @nn.compact
  def __call__(self, x):
    parts = [v for v in jax.tree.leaves({'x': x, 'square': x**2})]
    return ensemble(MLP, 2, 0)((4,), name='members')(jnp.stack(parts, 0))


class Outer(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(2)(Critics(2)(nn.Dense(3)(x))[0]) + CriticsOfSetup()(x)[1]


CASES: list[Any] = [
    ('Critics', {}, [(4, 3)], {}),
    ('CriticsOfSetup', {}, [(4, 3)], {}),
    ('CriticsOfSetup', {'members': 1}, [(4, 3)], {}),
    ('EachItsOwn', {}, [(4, 3)], {}),
    ('Outer', {}, [(4, 3)], {}),
    ('Critics', {'members': 1}, [(3,)], {}),
]
