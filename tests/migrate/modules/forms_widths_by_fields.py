"""Widths that a condition of the fields decides: each module has its own."""

import flax.linen as nn


class ByAnExpression(nn.Module):
  concat: bool = True
  @nn.compact
  def __call__(self, x):
    h = nn.Dense(6)(x).reshape(x.shape[0], 2, 3)
    return h.reshape(x.shape[0], -1) if self.concat else h.mean(1)


class ByAReturn(nn.Module):
  concat: bool = True
  @nn.compact
  def __call__(self, x):
    h = nn.Dense(6)(x).reshape(x.shape[0], 2, 3)
    n = len(x)
    if self.concat:
      return h.reshape(n, -1)
    return h.mean(1)


class AroundExpression(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(2)(ByAnExpression()(x)) + nn.Dense(2)(ByAnExpression(False)(x))


class AroundReturn(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(2)(ByAReturn()(x)) + nn.Dense(2)(ByAReturn(False)(x))


CASES = [
  ("ByAnExpression", {}, [(4, 5)], {}),
  ("ByAReturn", {}, [(4, 5)], {}),
  ("AroundExpression", {}, [(4, 5)], {}),
  ("AroundReturn", {}, [(4, 5)], {}),
  ("ByAnExpression", {"concat": False}, [(4, 5)], {}),
  ("ByAReturn", {"concat": False}, [(4, 5)], {}),
]
