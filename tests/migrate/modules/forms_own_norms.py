"""Norms of one's own that are written with flax.linen.normalization's private functions; `CASES` as in forms_basic."""

from typing import Any, Callable, Optional

import flax.linen as nn
import jax
import jax.numpy as jnp
from flax.linen.module import Module, compact, merge_param
from flax.linen.normalization import _canonicalize_axes, _compute_stats, _normalize


class Renorm(Module):
  """Statistics of a batch, corrected towards the running ones within bounds that widen."""

  use_running_average: Optional[bool] = None
  axis: int = -1
  momentum: float = 0.9
  epsilon: float = 1e-3
  dtype: Any = None
  param_dtype: Any = jnp.float32
  use_bias: bool = True
  use_scale: bool = True
  bias_init: Callable = nn.initializers.zeros
  scale_init: Callable = nn.initializers.ones
  axis_name: Optional[str] = None

  @compact
  def __call__(self, x, use_running_average: Optional[bool] = None):
    use_running_average = merge_param('use_running_average', self.use_running_average, use_running_average)
    feature_axes = _canonicalize_axes(x.ndim, self.axis)
    reduction_axes = tuple(i for i in range(x.ndim) if i not in feature_axes)
    feature_shape = [x.shape[ax] for ax in feature_axes]
    ra_mean = self.variable('batch_stats', 'mean', lambda s: jnp.zeros(s, jnp.float32), feature_shape)
    ra_var = self.variable('batch_stats', 'var', lambda s: jnp.ones(s, jnp.float32), feature_shape)
    steps = self.variable('batch_stats', 'steps', lambda s: s, jnp.zeros((), jnp.float32))
    if use_running_average:
      mean, var = ra_mean.value, ra_var.value
    else:
      mean, var = _compute_stats(x, reduction_axes, dtype=self.dtype,
                                 axis_name=self.axis_name if not self.is_initializing() else None)
      if not self.is_initializing():
        r = jnp.clip(jnp.sqrt(var) / jnp.sqrt(ra_var.value + self.epsilon), 1 / 3, 3)
        var = jnp.where(steps.value > 0, var / jax.lax.stop_gradient(r) ** 2, var)
        ra_mean.value = self.momentum * ra_mean.value + (1 - self.momentum) * mean
        ra_var.value = self.momentum * ra_var.value + (1 - self.momentum) * var
        steps.value += 1
    return _normalize(
      self, x, mean, var, reduction_axes, feature_axes, self.dtype, self.param_dtype, self.epsilon, self.use_bias,
      self.use_scale, self.bias_init, self.scale_init)


class NetWithRenorm(nn.Module):
  @nn.compact
  def __call__(self, x, train: bool = True):
    x = nn.relu(Renorm(use_running_average=not train, epsilon=1e-2)(nn.Dense(6)(x)))
    x = Renorm(use_running_average=not train, use_bias=False, name='second')(x)
    return nn.Dense(2)(x)


class LastAxis(nn.Module):
  @nn.compact
  def __call__(self, x):
    mean, var = _compute_stats(x, (-1,), jnp.float32)
    y = nn.normalization._normalize(
      self, x, mean, var, (-1,), (-1,), None, jnp.float32, 1e-6, True, False, nn.initializers.zeros, nn.initializers.ones,
      force_float32_reductions=False)
    return nn.Dense(3)(y)


CASES = [
  ("Renorm", {"use_running_average": False}, [(4, 5)], {}),
  ("Renorm", {"use_running_average": True, "use_scale": False}, [(4, 5)], {}),
  ("Renorm", {"use_running_average": False, "axis": 1}, [(4, 3, 5)], {}),
  ("NetWithRenorm", {}, [(4, 5)], {}),
  ("NetWithRenorm", {}, [(4, 5)], {"train": False}),
  ("LastAxis", {}, [(4, 5)], {}),
]
