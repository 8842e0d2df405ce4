"""Functions that lift a class they are given, and calls that hand on what they are given; `CASES` as in forms_basic."""

import functools
from collections.abc import Sequence
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp


def ensemblize(cls, num, out_axes=0, **kwargs):
  return nn.vmap(
      cls,
      variable_axes={'params': 0},
      split_rngs={'params': True},
      in_axes=None,
      out_axes=out_axes,
      axis_size=num,
      **kwargs,
  )


def several_steps(cls, steps, unroll=1, *rest):
  return nn.scan(cls, variable_broadcast='params', split_rngs={'params': False}, length=steps, unroll=unroll)


def remembered(cls, keep):
  return nn.remat(cls, prevent_cse=keep, policy=jax.checkpoint_policies.dots_saveable)


class MLP(nn.Module):
  hidden: Sequence[int] = (4, 5)
  last: bool = False

  @nn.compact
  def __call__(self, x, training: bool = False):
    for i, size in enumerate(self.hidden):
      x = nn.Dense(size)(x)
      if i + 1 < len(self.hidden) or self.last:
        x = nn.Dropout(0.5, deterministic=not training)(nn.gelu(x))
    return x


class Cell(nn.Module):
  @nn.compact
  def __call__(self, c, _):
    c = nn.tanh(nn.Dense(3)(c))
    return c, c


class TwoOfThem(nn.Module):
  hidden: Sequence[int]

  @nn.compact
  def __call__(self, x):
    return ensemblize(MLP, 2)((*self.hidden, 1))(x)


class AsManyAsSaid(nn.Module):
  members: int
  axis: int = 1

  def setup(self):
    self.net = ensemblize(MLP, self.members, out_axes=1)((4, 1))

  def __call__(self, x):
    return self.net(x)


class Steps(nn.Module):
  @nn.compact
  def __call__(self, x):
    return several_steps(Cell, 3, 2)()(x, None)[1]


class Remembered(nn.Module):
  @nn.compact
  def __call__(self, x):
    return remembered(MLP, False)()(x)


class HandedOn(nn.Module):
  base: Any = functools.partial(MLP, hidden=(4, 4))

  @nn.compact
  def __call__(self, observations, actions, *args, **kwargs):
    x = jnp.concatenate([observations, actions], axis=-1)
    return jnp.squeeze(nn.Dense(1)(self.base()(x, *args, **kwargs)), -1)


class HandedOnTwice(nn.Module):
  @nn.compact
  def __call__(self, x, *args):
    return HandedOn()(x, x, *args)


class MeanOfMembers(nn.Module):
  count: int = 3

  @nn.compact
  def __call__(self, x):
    """Of any rank: the members come first, and go first."""
    y = ensemblize(MLP, self.count)((6, 5))(x)
    best = jnp.max(y, axis=0)
    return nn.Dense(4)(jnp.mean(y, axis=0)) + nn.Dense(4)(best)


class SumOfMembers(nn.Module):
  @nn.compact
  def __call__(self, x):
    x = nn.Dense(8)(x)
    y = ensemblize(MLP, 2)((3, 7))(x).sum(0)
    return nn.Dense(4)(jnp.concatenate([x, y], -1))


CASES = [
    ('TwoOfThem', {'hidden': (4,)}, [(2, 3)], {}),
    ('AsManyAsSaid', {'members': 3}, [(2, 3)], {}),
    ('Steps', {}, [(2, 3)], {}),
    ('Remembered', {}, [(2, 3)], {}),
    ('HandedOn', {}, [(2, 3), (2, 2)], {}),
    ('HandedOn', {}, [(2, 3), (2, 2)], {'training': False}),
    ('HandedOnTwice', {}, [(2, 3)], {}),
    ('MeanOfMembers', {}, [(2, 3)], {}),
    ('MeanOfMembers', {'count': 2}, [(2, 4, 3)], {}),
    ('SumOfMembers', {}, [(2, 3)], {}),
]
