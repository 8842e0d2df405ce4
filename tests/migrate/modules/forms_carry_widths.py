"""Recurrent cells that are given carries of other widths than their `features`; `CASES` as in forms_basic."""

from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn


class OfADense(nn.Module):
  width: int
  @nn.compact
  def __call__(self, x):
    h, y = nn.GRUCell(5)(nn.Dense(self.width)(x), x)
    return nn.Dense(3)(y) + nn.Dense(3)(h)


class OfZeros(nn.Module):
  @nn.compact
  def __call__(self, x):
    carry = (jnp.zeros((x.shape[0], 7)), jnp.ones((x.shape[0], 7)))
    for cell in (nn.LSTMCell(5, name="a"), nn.OptimizedLSTMCell(features=6, name="b")):
      carry, y = cell(carry, x)
    return nn.Dense(2)(y)


class OfTheInput(nn.Module):
  @nn.compact
  def __call__(self, x):
    h = jnp.tanh(x)[..., :2]
    _, a = nn.SimpleCell(4)(h, x)
    _, b = nn.MGUCell(4, name="gate")(jnp.concatenate([h, h], -1), x)
    return jnp.concatenate([a, b], -1)


class InSetup(nn.Module):
  size: int = 6
  def setup(self):
    self.cell = nn.GRUCell(self.size)
    self.first = nn.Dense(self.size - 2)
  def __call__(self, x):
    h = self.first(x)
    for _ in range(3):
      h, y = self.cell(h, x)
    return y


class OfAnRNN(nn.Module):
  hidden: int
  @nn.compact
  def __call__(self, x):
    carry, y = nn.RNN(nn.LSTMCell(self.hidden), return_carry=True)(x)
    return nn.RNN(nn.LSTMCell(3), name="decoder")(y, initial_carry=carry)


class AsWideAsFeatures(nn.Module):
  @nn.compact
  def __call__(self, x):
    cell = nn.GRUCell(features=x.shape[-1])
    carry = cell.initialize_carry(jax.random.key(0), x.shape)
    carry, y = cell(carry, x)
    return nn.GRUCell(features=x.shape[-1] + 1)(jnp.zeros((x.shape[0], x.shape[-1] + 1)), y)[1]


class OfItsOwnOutput(nn.Module):
  @nn.compact
  def __call__(self, x):
    h, _ = nn.GRUCell(5)(nn.Dense(4)(x), x)
    _, y = nn.GRUCell(5)(h, x)
    return nn.Dense(2)(y)


CASES: list[Any] = [
    ('OfADense', dict(width=4), [(2, 3)], dict()),
    ('OfZeros', dict(), [(2, 3)], dict()),
    ('OfTheInput', dict(), [(2, 3)], dict()),
    ('InSetup', dict(), [(2, 3)], dict()),
    ('OfAnRNN', dict(hidden=4), [(2, 5, 3)], dict()),
    ('AsWideAsFeatures', dict(), [(2, 3)], dict()),
    ('OfItsOwnOutput', dict(), [(2, 3)], dict()),
]
