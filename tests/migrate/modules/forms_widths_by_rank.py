"""Widths that depend on how many dimensions an input has, and inputs that are taken apart by number."""

import jax.numpy as jnp
from flax import linen as nn


class Times(nn.Module):
  dim: int = 6
  @nn.compact
  def __call__(self, t):
    freqs = self.param("w", nn.initializers.normal(), (self.dim,))
    args = t[:, None] * freqs[None, :]
    return nn.Dense(self.dim)(jnp.sin(args))


class Pos(nn.Module):
  @nn.compact
  def __call__(self, x, pos):
    return nn.Dense(3)(jnp.concatenate([x, pos[:, None]], -1))


class Expand(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(x[:, None]), nn.Dense(2)(x[:, None, None]), nn.LayerNorm()(x[None, :, None])


class Outer(nn.Module):
  @nn.compact
  def __call__(self, x, t):
    return Pos()(nn.Dense(3)(x), t), Expand()(t), Expand()(nn.Dense(4)(x))


class JoinedBeside(nn.Module):
  @nn.compact
  def __call__(self, t, x):
    return nn.Dense(3)(jnp.concatenate([x, t[:, None], jnp.sin(t)[:, None].astype(jnp.float32)], axis=1))


class Weighted(nn.Module):
  @nn.compact
  def __call__(self, x, t):
    h = nn.Dense(4)(x)
    for _ in range(2):
      h = nn.Dense(6)(h * t[:, None])
    return h


class Pairs(nn.Module):
  @nn.compact
  def __call__(self, t):
    return nn.Dense(3)(jnp.stack([t, t + 1], axis=1)), nn.Dense(2)(jnp.stack([t, t], -1))


class Masked(nn.Module):
  @nn.compact
  def __call__(self, x, r):
    return nn.Dense(3)(jnp.where(r[:, None], 0.0, x))


class Chosen(nn.Module):
  @nn.compact
  def __call__(self, x, t):
    r, q = t
    return nn.Dense(3)(jnp.where(r[:, jnp.newaxis], q, x))


class GivesBoth(nn.Module):
  @nn.compact
  def __call__(self, x, r, q):
    return Chosen()(x, (r, q))


class Pyramid(nn.Module):
  @nn.compact
  def __call__(self, feats):
    a = nn.Dense(4)(feats[0])
    b = nn.Dense(4)(feats[2])
    return a.mean() + b.mean() + feats[1].sum()


class UsesPyramid(nn.Module):
  @nn.compact
  def __call__(self, x):
    x = nn.Dense(6)(x)
    return Pyramid()(jnp.stack([x, x + 1, x * 2]))


class Rows(nn.Module):
  @nn.compact
  def __call__(self, x):
    w = self.param("w", nn.initializers.normal(), (x[0].shape[-1], 3))
    v = self.param("v", nn.initializers.normal(), (x[0].shape[0], 3))
    return x[0] @ w + v


class UsesRows(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Rows()(nn.Dense(5)(x))


class Cell(nn.Module):
  width: int = 4
  @nn.compact
  def __call__(self, carry, inputs):
    x, reset = inputs[0], inputs[1]
    carry = jnp.where(reset[:, None], 0.0, carry)
    carry = jnp.tanh(nn.Dense(self.width)(jnp.concatenate([carry, x], -1)))
    return carry, carry


class Reset2(nn.Module):
  cell: nn.Module
  @nn.compact
  def __call__(self, carry, inputs):
    def body(cell, carry, t):
      x = t[0]
      carry = jnp.where(t[1][:, None], 0.0, carry)
      return cell(carry, x)
    return nn.scan(body, variable_broadcast="params", split_rngs={"params": False})(self.cell, carry, inputs)


class UsesReset(nn.Module):
  @nn.compact
  def __call__(self, x, d):
    cell = nn.GRUCell(6)
    carry = jnp.zeros((x.shape[1], 6))
    return nn.Dense(2)(Reset2(cell)(carry, (x, d))[1])


RESETS = [[False, True]] * 4
CASES = [
  ("Times", {}, [(5,)], {}),
  ("Pos", {}, [(5, 3), (5,)], {}),
  ("Expand", {}, [(5,)], {}),
  ("Expand", {}, [(5, 3)], {}),
  ("Outer", {}, [(5, 3), (5,)], {}),
  ("JoinedBeside", {}, [(5,), (5, 3)], {}),
  ("JoinedBeside", {}, [(5, 3), (5, 4, 3)], {}),
  ("Weighted", {}, [(5, 3), (5,)], {}),
  ("Pairs", {}, [(5,)], {}),
  ("Pairs", {}, [(5, 3)], {}),
  ("Masked", {}, [(5, 4), (5,)], {}),
  ("GivesBoth", {}, [(5, 4), (5,), (5, 4)], {}),
  ("UsesPyramid", {}, [(2, 4)], {}),
  ("Pyramid", {}, [(3, 2, 4)], {}),
  ("UsesRows", {}, [(3, 2, 4)], {}),
  ("UsesReset", {}, [(4, 2, 3), RESETS], {}),
]
