"""Constructor arguments out of dicts that conditions fill, `kw["use_bias"] = False`; `CASES` as in forms_basic."""

from typing import Any

import flax.linen as nn
import jax.numpy as jnp


class InSetup(nn.Module):
  scale: Any = None

  def setup(self):
    options = {}
    if self.scale is not None:
      options['scale_init'] = lambda *_: jnp.ones((8,)) * self.scale
      options['bias_init'] = nn.initializers.ones
    self.norm = nn.LayerNorm(epsilon=1e-5, **options)
    widths = {'a': 3}
    if self.scale is not None:
      widths['b'] = 5
    self.head = nn.Dense(6 if 'b' in widths else 4)
    self.last = nn.Dense(len(widths))

  def __call__(self, x):
    return self.last(self.head(self.norm(x)))


def norm(scale, epsilon=1e-6):
  own = {}
  if scale:
    own['scale_init'] = nn.initializers.constant(scale)
  return nn.LayerNorm(epsilon=epsilon, **own)


class Changed(nn.Module):
  """What is added later is not for the layers before."""

  scale: Any = None

  @nn.compact
  def __call__(self, x):
    options = {'epsilon': 1e-2}
    x = nn.LayerNorm(**options)(x)
    for i in range(2):
      kw = {}
      if self.scale is not None and i > 0:
        kw.update(kernel_init=nn.initializers.ones)
      x = nn.DenseGeneral((2, 4), axis=-1, **kw)(x).reshape(x.shape)
    if self.scale is not None:
      options['use_bias'] = False
    x = nn.BatchNorm(use_running_average=False, **options)(x)
    return norm(self.scale, epsilon=1e-3)(nn.GroupNorm(4, **options)(x))


CASES = [(name, {'scale': scale}, [(2, 3, 8)], {}) for name in ('InSetup', 'Changed') for scale in (None, 2.0)]
