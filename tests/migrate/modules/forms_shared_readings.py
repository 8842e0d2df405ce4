"""Methods that classes share, where one class knows more of the shapes of their variables than another; `CASES` as in forms_basic."""

from typing import Any, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn


class Convolving(nn.Module):
  features: int
  kernel_size: Sequence[int] = (3,)

  @property
  def shared(self) -> bool:
    ...

  @nn.compact
  def __call__(self, x):
    batch = x.ndim - (len(self.kernel_size) + 1)
    if batch != 1:
      x = jnp.reshape(x, (-1,) + x.shape[batch:])
    width = jnp.shape(x)[-1]
    if self.shared:
      shape = tuple(self.kernel_size) + (width, self.features)
      bias_shape = (self.features,)
    else:
      out = jax.eval_shape(lambda a: a[:, 1:-1], x).shape
      shape = out[1:-1] + (np.prod(self.kernel_size) * width, self.features)
      bias_shape = out[1:-1] + (self.features,)
    kernel = self.param('kernel', nn.initializers.lecun_normal(), shape, jnp.float32)
    bias = self.param('bias', nn.initializers.normal(), bias_shape)
    if self.shared:
      return bias + jax.lax.conv_general_dilated(x, kernel, (1,), 'SAME', dimension_numbers=('NHC', 'HIO', 'NHC'))
    return bias + jax.lax.conv_general_dilated_local(
      x, kernel, (1,), 'VALID', self.kernel_size, dimension_numbers=('NHC', 'HIO', 'NHC')
    )


class Conv(Convolving):
  @property
  def shared(self) -> bool:
    return True


class Local(Convolving):
  @property
  def shared(self) -> bool:
    return False


class Both(nn.Module):
  @nn.compact
  def __call__(self, x):
    x = Conv(4)(x)
    return Local(3)(x) + Local(3)(Conv(2, (5,))(x))


class Averaging(nn.Module):
  """What a field starts may be several arrays where no shape is known."""

  start: Any = nn.initializers.normal()

  @property
  def wide(self) -> bool:
    ...

  @nn.compact
  def __call__(self, x):
    if self.wide:
      shape = (jnp.shape(x)[-1],)
    else:
      shape = jax.eval_shape(lambda a: a[:, 1:-1], x).shape[1:]
    scale = self.param('scale', self.start, shape)
    seen = self.variable('batch_stats', 'seen', jnp.zeros, shape)
    seen.value = seen.value + scale
    return x[:, 1:-1] * scale + seen.value


class Wide(Averaging):
  @property
  def wide(self):
    return True


class High(Averaging):
  @property
  def wide(self):
    return False


class Averages(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Wide()(x)[:, 1:-1] + High()(High(nn.initializers.ones)(x))


CASES = [
  ('Conv', dict(features=4), [(2, 7, 3)], {}),
  ('Conv', dict(features=4), [(2, 2, 7, 3)], {}),
  ('Local', dict(features=4), [(2, 7, 3)], {}),
  ('Both', {}, [(2, 9, 3)], {}),
  ('Wide', {}, [(2, 7, 3)], {}),
  ('Averages', {}, [(2, 7, 3)], {}),
]
