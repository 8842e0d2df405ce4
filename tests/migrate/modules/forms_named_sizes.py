"""Sizes of layers under names that the method computes of numbers of dimensions; `CASES` as in forms_basic."""

import flax.linen as nn


class Residual(nn.Module):
  width: int

  @nn.compact
  def __call__(self, x):
    kernel_size = (3,) * (x.ndim - 2)
    h = nn.Conv(self.width, kernel_size=kernel_size)(x)
    return nn.Conv(x.shape[-1], kernel_size=kernel_size)(nn.swish(h)) + x


class Within(nn.Module):
  width: int = 4

  @nn.compact
  def __call__(self, x):
    return Residual(self.width)(nn.Dense(6)(x))


class Twice(nn.Module):
  @nn.compact
  def __call__(self, x):
    ones = (1,) * (x.ndim - 2)
    x = nn.relu(x)
    return nn.Conv(4, ones, strides=ones)(x)


class Changed(nn.Module):
  @nn.compact
  def __call__(self, x):
    kernel = (2,) + (x.ndim - 3) * (1,)
    x = x.reshape(x.shape[0], -1, x.shape[-1])
    x = nn.Conv(4, (3,))(x)
    return x.mean() + nn.Conv(3, kernel)(x[:, None] if len(kernel) == 2 else x)


CASES = [
  ('Residual', {'width': 5}, [(2, 8, 6)], {}),
  ('Residual', {'width': 5}, [(2, 8, 8, 6)], {}),
  ('Residual', {'width': 5}, [(2, 4, 4, 4, 6)], {}),
  ('Within', {}, [(2, 8, 8, 3)], {}),
  ('Within', {}, [(2, 8, 3)], {}),
  ('Twice', {}, [(2, 8, 8, 3)], {}),
  ('Twice', {}, [(2, 8, 3)], {}),
  ('Changed', {}, [(2, 8, 3)], {}),
  ('Changed', {}, [(2, 3, 4, 5)], {}),
]
