"""Lists that grow by optional arrays and fields, joined for modules of setup; `CASES` as in forms_basic."""

from typing import Any, Sequence
import jax.numpy as jnp
from flax import linen as nn


class MLP(nn.Module):
  dims: Sequence[int]
  @nn.compact
  def __call__(self, x):
    for d in self.dims:
      x = nn.relu(nn.Dense(d)(x))
    return x


class Value(nn.Module):
  dims: Sequence[int]
  count: int = 2
  def setup(self):
    net = MLP
    if self.count > 1:
      net = nn.vmap(
          MLP, variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=None, out_axes=0, axis_size=self.count
      )
    self.net = net((*self.dims, 1))
  def __call__(self, obs, actions=None):
    inputs = [obs]
    if actions is not None:
      inputs.append(actions)
    inputs = jnp.concatenate(inputs, axis=-1)
    return self.net(inputs).squeeze(-1)


class Goals(nn.Module):
  dims: Sequence[int]
  wide: bool = False
  def setup(self):
    self.net = MLP((*self.dims, 2))
    self.more = nn.Dense(3)
  def __call__(self, obs, goals=None, actions=None):
    inputs = [obs]
    if goals is not None:
      inputs.append(goals)
    if actions is None:
      if self.wide:
        inputs.append(self.more(obs))
    else:
      inputs.append(actions)
    return self.net(jnp.concatenate(inputs, axis=-1))


class Compact(nn.Module):
  dims: Sequence[int]
  wide: bool = False
  @nn.compact
  def __call__(self, obs, goals=None, actions=None):
    inputs = [obs]
    if goals is not None:
      inputs.append(goals)
    if actions is not None:
      inputs.append(actions)
      if self.wide:
        inputs.append(nn.Dense(3)(obs))
    return MLP(self.dims)(jnp.concatenate(inputs, axis=-1))


class Twice(nn.Module):
  dims: Sequence[int]
  def setup(self):
    self.first = MLP(self.dims)
    self.last = MLP(self.dims)
  def __call__(self, obs, actions=None):
    inputs = [obs]
    h = self.first(jnp.concatenate(inputs, axis=-1))
    if actions is not None:
      inputs.append(actions)
    inputs += [h]
    return self.last(jnp.concatenate(inputs, axis=-1))


class Popped(nn.Module):
  dims: Sequence[int]
  @nn.compact
  def __call__(self, obs, actions=None):
    inputs = [obs]
    if actions is not None:
      inputs.append(actions)
      inputs.pop(0)
    return MLP(self.dims)(jnp.concatenate(inputs, axis=-1))


CASES: list[Any] = [
    ('Value', dict(dims=(4,)), [(2, 3), (2, 5)], dict()),
    ('Value', dict(dims=(4,), count=1), [(2, 3)], dict(actions=None)),
    ('Goals', dict(dims=(4,)), [(2, 3), (2, 6), (2, 5)], dict()),
    ('Goals', dict(dims=(4,), wide=True), [(2, 3), (2, 6)], dict(actions=None)),
    ('Goals', dict(dims=(4,)), [(2, 3)], dict(goals=None, actions=None)),
    ('Compact', dict(dims=(4,), wide=True), [(2, 3), (2, 6), (2, 5)], dict()),
    ('Compact', dict(dims=(4,)), [(2, 3)], dict(goals=None, actions=None)),
    ('Twice', dict(dims=(4,)), [(2, 3), (2, 5)], dict()),
    ('Twice', dict(dims=(4,)), [(2, 3)], dict(actions=None)),
    ('Popped', dict(dims=(4,)), [(2, 3), (2, 5)], dict()),
    ('Popped', dict(dims=(4,)), [(2, 3)], dict(actions=None)),
]
