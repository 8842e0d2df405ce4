"""Branches whose every line the constructor takes over; `CASES` as in forms_basic."""

import flax.linen as nn
import jax.numpy as jnp


class PriorOrNone(nn.Module):
  prior: float = None
  skip: bool = False
  @nn.compact
  def __call__(self, x):
    if self.skip:
      y = x * 2
    else:
      init = nn.initializers.zeros
      if self.prior is not None:
        bias = -jnp.log((1 - self.prior) / self.prior)
        init = nn.initializers.constant(bias, dtype=jnp.float32)
      y = nn.Dense(3, bias_init=init)(x)
    return y


class Nested(nn.Module):
  prior: float = None
  wide: bool = False
  @nn.compact
  def __call__(self, x):
    init, width = nn.initializers.zeros, 3
    if self.wide:
      if self.prior is not None:
        scale = self.prior * 2
        init = nn.initializers.constant(scale)
    if self.wide: width = 6; extra = width
    else: extra = 1
    return nn.Dense(width, bias_init=init)(x) * extra


class WithElse(nn.Module):
  wide: bool = False
  @nn.compact
  def __call__(self, x):
    if self.wide:
      half = 4
      width = half * 2
    elif x.shape[-1] > 4:
      half = 1
      width = half + 2
    else:
      width = 5
    return nn.Dense(width)(x)


class StillRead(nn.Module):
  wide: bool = False
  @nn.compact
  def __call__(self, x):
    width = 3
    scale = 1.0
    if self.wide:
      half = 4
      width = half * 2
      scale = half / 3
    return nn.Dense(width)(x) * scale


CASES = [
  *[('PriorOrNone', dict(prior=p, skip=s), [(2, 5)], {}) for p in (None, 0.25) for s in (False, True)],
  *[('Nested', dict(prior=p, wide=w), [(2, 5)], {}) for p in (None, 0.25) for w in (False, True)],
  *[('WithElse', dict(wide=w), [shape], {}) for w in (False, True) for shape in ((2, 5), (2, 3))],
  *[('StillRead', dict(wide=w), [(2, 5)], {}) for w in (False, True)],
]
