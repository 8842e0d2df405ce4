"""Parameters whose shapes and initial values are computed in the call; `CASES` as in forms_basic."""
import functools
from typing import Any, Callable, Iterable, Optional, Sequence, Tuple, Union

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn
from flax.linen.normalization import _canonicalize_axes
from flax.linen.partitioning import param_with_axes
from jax import lax


def _to_tuple(v):
  return tuple(v) if isinstance(v, Iterable) else (v,)


def _positive(axes: Iterable[int], ndim: int) -> Tuple[int, ...]:
  return tuple([a if a >= 0 else ndim + a for a in axes])


class AxesDense(nn.Module):
  features: Union[Iterable[int], int]
  axis: Union[Iterable[int], int] = -1
  dtype: Any = jnp.float32
  kernel_init: Callable = nn.initializers.lecun_normal()
  names: Tuple[str, ...] = ()

  @nn.compact
  def __call__(self, inputs):
    features = _to_tuple(self.features)
    axis = _to_tuple(self.axis)
    inputs = jnp.asarray(inputs, self.dtype)
    axis = _positive(axis, inputs.ndim)
    shape = tuple([inputs.shape[a] for a in axis]) + features
    flat = (np.prod([inputs.shape[a] for a in axis]), np.prod(features))
    kernel = param_with_axes('kernel', self.kernel_init, flat, jnp.float32, axes=self.names)
    kernel = jnp.asarray(kernel, self.dtype)
    kernel = jnp.reshape(kernel, shape)
    against = tuple(range(0, len(axis)))
    return lax.dot_general(inputs, kernel, ((axis, against), ((), ())))


class AxesDenseBias(nn.Module):
  features: Union[Iterable[int], int]
  axis: Union[Iterable[int], int] = -1
  use_bias: bool = False
  dtype: Any = jnp.float32
  param_dtype: Any = jnp.float32
  kernel_init: Callable = nn.initializers.lecun_normal()
  bias_init: Callable = nn.initializers.zeros_init()

  @nn.compact
  def __call__(self, inputs):
    def product(inputs, kernel, axis, against):
      return lax.dot_general(inputs, kernel, ((axis, against), ((), ())))

    features = _to_tuple(self.features)
    axis = _to_tuple(self.axis)
    inputs = jnp.asarray(inputs, self.dtype)
    axis = _positive(axis, inputs.ndim)
    shape = tuple(inputs.shape[a] for a in axis) + features
    kernel = self.param('kernel', self.kernel_init, shape, self.param_dtype)
    kernel = jnp.asarray(kernel, self.dtype)
    y = product(inputs, kernel, axis, tuple(range(0, len(axis))))
    if self.use_bias:
      bias = self.param('bias', self.bias_init, shape[-len(features):], self.param_dtype)
      y += jnp.asarray(bias, self.dtype)
    return y


class Attention(nn.Module):
  heads: int = 2
  size: int = 4

  @nn.compact
  def __call__(self, x):
    project = functools.partial(AxesDense, axis=-1, features=(self.heads, self.size), names=('embed', 'joined'))
    q = project(name='query')(x)
    k = project(name='key')(x)
    w = nn.softmax(jnp.einsum('bqhd,bkhd->bhqk', q, k))
    y = jnp.einsum('bhqk,bkhd->bqhd', w, k)
    y = AxesDense(features=x.shape[-1], axis=(-2, -1), names=('joined', 'embed'), name='out')(y)
    y = nn.LayerNorm()(y)
    return AxesDense(features=5, name='last')(y)


class WrappedInit(nn.Module):
  features: Union[Iterable[int], int]
  axis: Union[Iterable[int], int] = -1
  kernel_init: Callable = nn.initializers.lecun_normal()
  names: Tuple[str, ...] = ()

  @nn.compact
  def __call__(self, inputs):
    features = _to_tuple(self.features)
    axis = _positive(_to_tuple(self.axis), inputs.ndim)

    def flattened(rng, shape, dtype=jnp.float32):
      size = np.prod([inputs.shape[a] for a in axis])
      return self.kernel_init(rng, (size, np.prod(features)), dtype).reshape(shape)

    shape = tuple(inputs.shape[a] for a in axis) + features
    ins = np.arange(len(axis))
    outs = np.arange(len(axis), len(axis) + len(features))
    kernel = self.param('kernel', nn.with_logical_partitioning(flattened, self.names), shape)
    return lax.dot_general(inputs, kernel, ((axis, tuple(ins)), ((), ()))) + 0 * len(outs)


class Experts(nn.Module):
  count: int = 3
  hidden: int = 6
  dtype: Any = jnp.float32
  kernel_init: Callable = nn.initializers.lecun_normal()

  @nn.compact
  def __call__(self, x):
    kernel_axes = ('exp', 'embed', 'mlp')
    kernel_init = self.kernel_init
    ins = np.arange(1)
    w = self.param(
        'w', nn.with_logical_partitioning(kernel_init, kernel_axes), (self.count, x.shape[-1], self.hidden), self.dtype)
    w = jnp.asarray(w, self.dtype)
    y = jnp.einsum('bsd,edh->besh', x, w)
    v = self.param('v', nn.with_logical_partitioning(kernel_init, ('exp', 'mlp', 'embed')),
                   (self.count, self.hidden, x.shape[2]), self.dtype)
    return jnp.einsum('besh,ehd->bsd', y, v)


class DtypeOfInput(nn.Module):
  @nn.compact
  def __call__(self, x):
    n, l, d = x.shape
    p = self.param('p', nn.initializers.normal(stddev=1 / np.sqrt(d)), (1, l, d), x.dtype)
    return x + p


class Probe(nn.Module):
  heads: int = 2

  @nn.compact
  def __call__(self, x):
    n, _, d = x.shape
    probe = self.param('probe', nn.initializers.xavier_uniform(), (1, 1, d), x.dtype)
    probe = jnp.tile(probe, [n, 1, 1])
    x = nn.MultiHeadDotProductAttention(num_heads=self.heads)(probe, x)
    y = nn.LayerNorm()(x)
    return (x + nn.Dense(d)(y))[:, 0]


class Renorm(nn.Module):
  axis: int = -1
  dtype: Any = None
  use_running_average: bool = True

  @nn.compact
  def __call__(self, x):
    feature_axes = (self.axis % x.ndim,)
    reduction_axes = tuple(i for i in range(x.ndim) if i not in feature_axes)
    feature_shape = [x.shape[a] for a in feature_axes]
    mean = self.variable('batch_stats', 'mean', lambda s: jnp.zeros(s, jnp.float32), feature_shape)
    var = self.variable('batch_stats', 'var', lambda s: jnp.ones(s, jnp.float32), feature_shape)
    steps = self.variable('batch_stats', 'steps', lambda s: jnp.zeros(s, jnp.int32), (1,))
    y = (x - mean.value) / jnp.sqrt(var.value + 1e-5 + 0 * steps.value[0])
    scale = self.param('scale', nn.initializers.ones, (x.shape[-1],))
    return y * scale + 0 * jnp.sum(x, reduction_axes, keepdims=True)


class FieldAndLocal(nn.Module):
  n: int = 2
  @nn.compact
  def __call__(self, x):
    n = int(np.prod([3, self.n]))
    x = nn.Dense(n)(x)
    return nn.Dense(self.n)(x)


class FieldUnlessSequence(nn.Module):
  n: object = 2
  @nn.compact
  def __call__(self, x):
    n = self.n if isinstance(self.n, int) else self.n[0]
    x = nn.Dense(n)(x)
    return nn.Dense(self.n)(x)


class LocalCalledInShape(nn.Module):
  @nn.compact
  def __call__(self, x):
    in_shape = tuple(s for s in x.shape[1:])
    p = self.param('p', nn.initializers.ones, in_shape)
    q = self.param('q', nn.initializers.ones, (x.shape[1], 1))
    return x * p * q


class TwoScopes(nn.Module):
  n: int = 2
  @nn.compact
  def __call__(self, x):
    d = int(np.prod([3, self.n]))
    return nn.Dense(d)(self._helper(x))
  def _helper(self, x):
    d = int(np.prod([2, self.n]))
    return nn.Dense(d)(x)


class TwoScopesOfShapes(nn.Module):
  n: int = 2
  @nn.compact
  def __call__(self, x):
    d = tuple([3, self.n])
    x = self._helper(x)
    return x * self.param('c', nn.initializers.ones, d[-1:])
  def _helper(self, x):
    d = tuple([1, self.n])
    return nn.Dense(d[-1])(x) + self.param('b', nn.initializers.ones, d)


class ShapeGrown(nn.Module):
  dims: Sequence[int] = (3,)
  @nn.compact
  def __call__(self, x):
    shape = list(self.dims)
    shape.append(x.shape[-1])
    shape.insert(0, 1)
    return x[:, None, :] * self.param('p', nn.initializers.normal(), tuple(shape))


class ShapeItemsSet(nn.Module):
  n: int = 3
  @nn.compact
  def __call__(self, x):
    shape = list(x.shape)
    shape[0] = 1
    shape[1] = self.n
    return x[:, None, :] * self.param('p', nn.initializers.normal(), tuple(shape) + x.shape[-1:])[0]


class MaskFilled(nn.Module):
  n: int = 4
  @nn.compact
  def __call__(self, x):
    m = np.ones((self.n, self.n))
    m[0] = 0.
    m[:, 1] *= 2.
    return x @ self.param('p', lambda *_: jnp.asarray(m))


class ShapeReversed(nn.Module):
  @nn.compact
  def __call__(self, x):
    shape = [s for s in x.shape[1:]]
    shape.reverse()
    return x @ self.param('p', nn.initializers.normal(), tuple(shape))


class AxesShared(nn.Module):
  shared: Any = None
  @nn.compact
  def __call__(self, x):
    shape = list(x.shape[1:])
    if self.shared is not None:
      for axis in self.shared:
        shape[axis - 1] = 1
    alpha = self.param('alpha', nn.initializers.constant(.25), tuple(shape))
    return jnp.where(x > 0, x, alpha * x)


def _absolute(rank, dims):
  return tuple([rank + d if d < 0 else d for d in dims])


class OldNorm(nn.Module):
  axis: Any = -1
  epsilon: float = 1e-5
  @nn.compact
  def __call__(self, x, use_running_average=True):
    axis = self.axis if isinstance(self.axis, tuple) else (self.axis,)
    axis = _absolute(x.ndim, axis)
    shape = tuple(d if i in axis else 1 for i, d in enumerate(x.shape))
    reduced = tuple(d for i, d in enumerate(x.shape) if i in axis)
    mean = self.variable('batch_stats', 'mean', lambda s: jnp.zeros(s, jnp.float32), reduced)
    var = self.variable('batch_stats', 'var', lambda s: jnp.ones(s, jnp.float32), reduced)
    y = (x - mean.value.reshape(shape)) / jnp.sqrt(var.value.reshape(shape) + self.epsilon)
    return y * self.param('scale', nn.initializers.ones, reduced).reshape(shape)


class AxesNorm(nn.Module):
  axis: Any = -1
  @nn.compact
  def __call__(self, x):
    axes = _canonicalize_axes(x.ndim, self.axis)
    shape = [x.shape[a] for a in axes]
    mean = self.variable('batch_stats', 'mean', lambda s: jnp.zeros(s, jnp.float32), shape)
    return x - mean.value


CASES = [
    ('AxesDense', {'features': (2, 3), 'names': ('embed', 'mlp')}, [(2, 5, 4)], {}),
    ('AxesDense', {'features': 3, 'axis': (-2, -1), 'names': ('embed', 'mlp')}, [(2, 5, 4)], {}),
    ('AxesDenseBias', {'features': (2, 3), 'use_bias': True}, [(2, 5, 4)], {}),
    ('AxesDenseBias', {'features': 3, 'axis': (-2, -1)}, [(2, 5, 4)], {}),
    ('Attention', {}, [(2, 5, 6)], {}),
    ('WrappedInit', {'features': (2, 3), 'names': ('embed', 'heads', 'mlp')}, [(2, 5, 4)], {}),
    ('Experts', {}, [(2, 5, 4)], {}),
    ('Renorm', {}, [(2, 5, 4)], {}),
    ('DtypeOfInput', {}, [(2, 5, 4)], {}),
    ('Probe', {}, [(2, 5, 4)], {}),
    ('OldNorm', {}, [(2, 5, 4)], {}),
    ('OldNorm', {'axis': (1, 2)}, [(2, 5, 4)], {}),
    ('AxesNorm', {}, [(2, 5, 4)], {}),
    ('FieldAndLocal', {}, [(2, 4)], {}),
    ('FieldUnlessSequence', {}, [(2, 4)], {}),
    ('LocalCalledInShape', {}, [(2, 4, 3)], {}),
    ('TwoScopes', {}, [(2, 4)], {}),
    ('TwoScopesOfShapes', {}, [(2, 4)], {}),
    ('ShapeGrown', {}, [(2, 4)], {}),
    ('ShapeItemsSet', {'n': 2}, [(3, 4)], {}),
    ('MaskFilled', {}, [(2, 4)], {}),
    ('ShapeReversed', {}, [(2, 4, 3)], {}),
    ('AxesShared', {}, [(2, 4, 3)], {}),
    ('AxesShared', {'shared': (1,)}, [(2, 4, 3)], {}),
]

SAME_START = ['MaskFilled', 'AxesShared', 'LocalCalledInShape', 'Renorm']  # their first values are no draws
