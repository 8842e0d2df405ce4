"""Classes that inherit from a Linen layer and replace its `__call__` as a whole; `CASES` as in forms_basic."""

from typing import Any, Callable

import flax.linen as nn
import jax
import jax.numpy as jnp


class MaskedDense(nn.Dense):
  """Weights above the diagonal do not count."""

  shift: int = 1
  use_bias: bool = False

  @nn.compact
  def __call__(self, x):
    x = jnp.asarray(x, self.dtype)
    kernel = self.param('kernel', self.kernel_init, (x.shape[-1], self.features))
    kernel = jnp.asarray(kernel, self.dtype)
    kernel = kernel * jnp.triu(jnp.ones(kernel.shape), self.shift)
    y = jax.lax.dot_general(x, kernel, (((x.ndim - 1,), (0,)), ((), ())), precision=self.precision)
    if self.use_bias:
      bias = self.param('bias', self.bias_init, (self.features,))
      y = y + jnp.asarray(bias, self.dtype)
    return y


class MaskedMLP(nn.Module):
  sizes: Any

  @nn.compact
  def __call__(self, x):
    for i, size in enumerate(self.sizes):
      x = MaskedDense(size, use_bias=i > 0, shift=-i, kernel_init=nn.initializers.normal(0.3))(x)
      x = nn.tanh(x)
    return MaskedDense(3, True, name='head')(x)


class Standardized(nn.Conv):
  eps: float = 1e-5

  @nn.compact
  def __call__(self, inputs):
    shape = (*self.kernel_size, inputs.shape[-1], self.features)
    kernel = self.param('kernel', self.kernel_init, shape, self.param_dtype)
    mean = jnp.mean(kernel, axis=(0, 1, 2), keepdims=True)
    kernel = (kernel - mean) / jnp.sqrt(jnp.var(kernel, axis=(0, 1, 2), keepdims=True) + self.eps)
    y = jax.lax.conv_general_dilated(
      inputs, kernel, (1, 1), 'SAME', dimension_numbers=('NHWC', 'HWIO', 'NHWC'))
    if self.use_bias:
      y = y + self.param('bias', self.bias_init, (self.features,), self.param_dtype)
    return y


class ScaleNorm(nn.LayerNorm):
  scale_init: Callable = nn.initializers.constant(2.0)

  @nn.compact
  def __call__(self, x):
    scale = self.param('scale', self.scale_init, (1,), self.param_dtype)
    return scale * x * jax.lax.rsqrt(jnp.sum(x * x, -1, keepdims=True) + self.epsilon)


class Offset(nn.Embed):
  offset: int = 2

  def setup(self):
    self.embedding = self.param(
      'embedding', self.embedding_init, (self.num_embeddings + self.offset, self.features), self.param_dtype)

  def __call__(self, positions):
    return jnp.take(self.embedding, positions + self.offset, axis=0)


class LookedUp(nn.Embed):
  """Rows behind the first ones."""

  def setup(self):
    self.offset = 2
    self.embedding = self.param(
      'embedding', self.embedding_init, (self.num_embeddings + self.offset, self.features), self.param_dtype)

  def __call__(self, positions):
    return super().__call__(positions + self.offset)


class Images(nn.Module):
  @nn.compact
  def __call__(self, x, t):
    x = nn.relu(ScaleNorm()(Standardized(5, (3, 3))(x)))
    x = Standardized(4, kernel_size=(1, 1), use_bias=False)(x)
    return x.mean((1, 2)) + Offset(6, 4)(t) + LookedUp(6, 4, embedding_init=nn.initializers.normal(0.5))(t)


TOKENS = [[1, 3], [0, 5]]
CASES = [
  ('MaskedDense', {'features': 4}, [(2, 6)], {}),
  ('MaskedDense', {'features': 4, 'use_bias': True}, [(2, 3, 6)], {}),
  ('MaskedMLP', {'sizes': (5, 7)}, [(2, 6)], {}),
  ('Standardized', {'features': 4, 'kernel_size': (3, 3)}, [(2, 5, 5, 3)], {}),
  ('Offset', {'num_embeddings': 6, 'features': 3}, [TOKENS], {}),
  ('LookedUp', {'num_embeddings': 1, 'features': 3, 'dtype': jnp.bfloat16}, [[[0, 0, 0]]], {}),
  ('Images', {}, [(2, 8, 8, 3), [1, 4]], {}),
]
