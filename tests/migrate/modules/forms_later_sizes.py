"""Input sizes that the code does not show: modules that are made when the class was called once; `CASES` as in forms_basic."""

from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn


def leaves(x):
  return jax.tree.leaves({'a': x, 'b': x * 2})


class Flat(nn.Module):
  width: int
  @nn.compact
  def __call__(self, x):
    h = jnp.concatenate([v.reshape(v.shape[0], -1) for v in leaves(x)], -1)
    h = nn.Dense(self.width)(h)
    for i in range(2):
      h = nn.Dense(self.width + i)(jnp.concatenate(leaves(h), -1))
    return nn.Dense(3)(h)


class Within(nn.Module):
  width: int
  @nn.compact
  def __call__(self, x, y):
    for i in range(2):
      a, b = leaves(x)
      x = Flat(self.width + i, name=f'flat_{i}')(a) + b.mean()
    return x + nn.Dense(3)(leaves(y)[1])


class InSetup(nn.Module):
  width: int
  def setup(self):
    self.layers = [nn.Dense(self.width * w) for w in (1, 2, 3)]
    self.inner = Flat(4)
  def __call__(self, x):
    h, _ = leaves(x)
    for layer in self.layers:
      h = leaves(layer(h))[1]
    return self.inner(leaves(h)[0])


class Down(nn.Module):
  width: int
  @nn.compact
  def __call__(self, x):
    return nn.relu(nn.Dense(self.width)(x))


class Up(nn.Module):
  width: int
  @nn.compact
  def __call__(self, x, skip):
    return nn.Dense(self.width)(jnp.concatenate([x, skip], axis=-1))


class Skips(nn.Module):
  widths: tuple[int, ...] = (4, 6)
  def setup(self):
    self.downs = [Down(w) for w in self.widths]
    self.ups = [Up(w) for w in reversed(self.widths)]
    self.last = nn.Dense(2)
  def __call__(self, x):
    kept = {}
    for i, down in enumerate(self.downs):
      kept[i] = x
      x = down(x)
    for i, up in enumerate(self.ups):
      x = up(x, kept[len(self.downs) - 1 - i])
    return self.last(x)


class Conditioned(nn.Module):
  width: int
  @nn.compact
  def __call__(self, x, cond=None, scale=1.0):
    h = nn.Dense(self.width)(x)
    if cond is not None:
      h = h + nn.Dense(self.width)(cond)
    return h * scale


class GivenOrNot(nn.Module):
  """One module, which a field gives a condition, by its place or its name, or not."""
  conditional: bool = True
  by_name: bool = False
  @nn.compact
  def __call__(self, x):
    block = Conditioned(4)
    if self.conditional:
      h = block(leaves(x)[0], leaves(x)[1][:, :2])
    else:
      h = block(leaves(x)[0])
    other = Conditioned(3)
    if self.by_name:
      return other(leaves(h)[0], cond=leaves(h)[1], scale=2.0)
    return other(leaves(h)[0])


class Normed(nn.Module):
  width: int
  @nn.compact
  def __call__(self, x, train: bool = False):
    h = nn.BatchNorm(use_running_average=not train)(leaves(x)[0])
    h = nn.Dropout(0.5, deterministic=not train)(h)
    self.sow('intermediates', 'h', h)
    return nn.Dense(self.width)(leaves(nn.LayerNorm()(h))[1])


class OfTokens(nn.Module):
  @nn.compact
  def __call__(self, input_ids, mask=None):
    h = leaves(nn.Embed(10, 6)(input_ids))[0]
    if mask is not None:
      h = jnp.where(mask[..., None], h, 0.0)
    return nn.Dense(3)(h)


class Cell(nn.Module):
  width: int
  @nn.compact
  def __call__(self, h, x):
    return nn.GRUCell(self.width)(h, leaves(x)[1])[1]


class OfNorms(nn.Module):
  norm: Any = nn.LayerNorm
  @nn.compact
  def __call__(self, x):
    return nn.Dense(2)(self.norm()(leaves(x)[0]))


class AfterBoth(nn.Module):
  @nn.compact
  def __call__(self, x):
    return OfNorms()(x) + OfNorms(norm=nn.RMSNorm)(x)


def started(x, ids):
  """Code outside of modules that constructs them: it could not say a width."""
  key = jax.random.key(0)
  return (
    Normed(4).init(key, x), OfTokens().init(key, ids), Cell(4).init(key, x, x), OfNorms().init(key, x), AfterBoth().init(key, x)
  )


CASES: list[Any] = [
    ('Flat', dict(width=4), [(2, 3, 5)], dict()),
    ('Within', dict(width=4), [(2, 3), (2, 5)], dict()),
    ('InSetup', dict(width=4), [(2, 3)], dict()),
    ('Skips', dict(), [(2, 3)], dict()),
    ('GivenOrNot', dict(), [(2, 3)], dict()),
    ('GivenOrNot', dict(conditional=False), [(2, 3)], dict()),
    ('GivenOrNot', dict(by_name=True), [(2, 3)], dict()),
    ('Normed', dict(width=4), [(2, 3)], dict()),
    ('OfTokens', dict(), [[[1, 2, 3]]], dict()),
    ('OfTokens', dict(), [[[1, 2, 3]], [[True, False, True]]], dict()),
    ('Cell', dict(width=4), [(2, 4), (2, 3)], dict()),
    ('AfterBoth', dict(), [(2, 3)], dict()),
]
