"""Python loops over the steps of a sequence, whose number the call alone knows."""

import flax.linen as nn
import jax
import jax.numpy as jnp


class LastState(nn.Module):
  hidden: int = 6
  @nn.compact
  def __call__(self, x):
    cell = nn.GRUCell(self.hidden)
    carry = cell.initialize_carry(jax.random.PRNGKey(0), x[:, 0].shape)
    for t in range(x.shape[1]):
      carry, y = cell(carry, x[:, t])
    return nn.Dense(2)(y)


class OfSetup(nn.Module):
  hidden: int = 6
  def setup(self):
    self.cell = nn.LSTMCell(self.hidden)
    self.o = nn.Dense(2)
  def __call__(self, x):
    carry = self.cell.initialize_carry(jax.random.PRNGKey(0), x[:, 0].shape)
    ys = []
    for t in range(x.shape[1]):
      carry, y = self.cell(carry, x[:, t])
      ys.append(self.o(y))
    return jnp.stack(ys, 1)


class Neighbours(nn.Module):
  @nn.compact
  def __call__(self, x):
    d = nn.Dense(5)
    out = jnp.zeros((x.shape[0], 5))
    for t in range(x.shape[1] - 1):
      out = out + d(jnp.concatenate([x[:, t], x[:, t + 1], x[:, -t - 1]], -1))
    return out * x.shape[1]


class Weighted(nn.Module):
  @nn.compact
  def __call__(self, x):
    d = nn.Dense(5)
    out = 0
    for t in range(x.shape[1]):
      y = d(x[:, t])
      out = out + (y + t) / (t + 1)
    return nn.Dense(2)(out)


class Rows(nn.Module):
  @nn.compact
  def __call__(self, x):
    d = nn.Dense(5)
    out = 0.
    for i, row in enumerate(x):
      out = out + d(row) * i + d(x[i])
    return out


CASES = [
  ("LastState", {}, [(2, 3, 4)], {}),
  ("OfSetup", {}, [(2, 3, 4)], {}),
  ("Neighbours", {}, [(2, 3, 4)], {}),
  ("Weighted", {}, [(2, 3, 4)], {}),
  ("Rows", {}, [(2, 3, 4)], {}),
]
