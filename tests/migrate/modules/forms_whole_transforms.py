"""`nn.remat_scan` and `nn.map_variables`; `CASES` as in forms_basic."""

import functools

import jax
import jax.numpy as jnp
from flax import linen as nn


class DenseStack(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.remat_scan(nn.Dense, lengths=(2, 3))(4, name='dense_stack')(nn.Dense(4)(x))


class OneLength(nn.Module):
  depth: int = 3

  @nn.compact
  def __call__(self, x):
    return nn.remat_scan(nn.Dense, lengths=(self.depth,))(x.shape[-1])(x)


class Block(nn.Module):
  width: int = 8

  @nn.compact
  def __call__(self, inputs):
    x, mask = inputs
    h = nn.LayerNorm()(x)
    h = nn.Dense(x.shape[-1])(nn.gelu(nn.Dense(self.width)(h)))
    return x + h * mask, mask


class Blocks(nn.Module):
  lengths: tuple = (2, 2)

  def setup(self):
    self.hs = nn.remat_scan(Block, lengths=self.lengths, policy=jax.checkpoint_policies.dots_saveable)(6)

  def __call__(self, x, mask):
    return self.hs((x, mask))[0]


class Counting(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.BatchNorm(use_running_average=False)(nn.Dense(x.shape[-1])(x))


class WithStatistics(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.remat_scan(Counting, lengths=(2, 2))()(x)


class SharedSteps(nn.Module):
  @nn.compact
  def __call__(self, x):
    stack = nn.remat_scan(Block, lengths=(2, 2), variable_broadcast='params', split_rngs={'params': False})
    return stack(name='shared')((x, jnp.ones_like(x)))[0]


class CheckpointedInside(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.remat_scan(nn.remat(Counting), lengths=(2, 2))()(x)


class CausalDense(nn.Module):
  features: int = 5

  def apply_mask(self, variables):
    return (jax.tree_util.tree_map(jnp.triu, variables) if not self.is_initializing() else variables)

  def setup(self):
    _CausalDense = nn.map_variables(nn.Dense, 'params', self.apply_mask, init=self.is_initializing())
    self.dense = _CausalDense(features=self.features, use_bias=False)

  def __call__(self, x):
    return self.dense(x)


def transposed(variables):
  return jax.tree_util.tree_map(lambda v: v.T, variables)


class Transposed(nn.Module):
  @nn.compact
  def __call__(self, x):
    x = nn.map_variables(nn.Dense, 'params', trans_in_fn=transposed, trans_out_fn=transposed, init=True)(3)(x)
    return nn.Dense(2)(x)


class Masked(nn.Module):
  keep: int = 3

  @nn.compact
  def __call__(self, x):
    def mask(variables):
      kernel = variables['params']['kernel']
      rows = jnp.arange(kernel.shape[0])[:, None] < self.keep
      return {'params': {**variables['params'], 'kernel': kernel * rows}}
    layer = nn.map_variables(nn.Dense, 'params', mask, init=True)
    return nn.tanh(layer(4, name='masked')(x))


class Normalised(nn.Module):
  @nn.compact
  def __call__(self, x, train: bool = True):
    def unit(variables):
      return jax.tree.map(lambda v: v / (1e-6 + jnp.linalg.norm(v)), variables)
    x = nn.map_variables(Counting, 'params', unit, mutable=True)()(x)
    return nn.BatchNorm(use_running_average=not train)(x)


class TiedBack(nn.Module):
  def setup(self):
    self.inner = nn.Dense(5, use_bias=False)

  def __call__(self, x):
    h = nn.tanh(self.inner(x))
    flip = lambda variables: jax.tree.map(lambda v: v.T, variables)
    return nn.map_variables(lambda mdl, h: mdl(h), 'params', flip)(self.inner, h)


class ScaledMethod(nn.Module):
  factor: float = 2.0

  def setup(self):
    self.inner = nn.Dense(4)

  def __call__(self, x):
    double = functools.partial(jax.tree.map, lambda v: v * self.factor)
    return self.inner(x) + nn.map_variables(lambda mdl, h: mdl.inner(h), 'params', double)(self, x)


CASES = [
  ("DenseStack", {}, [(2, 5)], {}),
  ("OneLength", {}, [(2, 5)], {}),
  ("Blocks", {}, [(2, 5), (2, 5)], {}),
  ("Blocks", {"lengths": (2, 2, 2)}, [(2, 5), (2, 5)], {}),
  ("WithStatistics", {}, [(4, 5)], {}),
  ("SharedSteps", {}, [(2, 5)], {}),
  ("CheckpointedInside", {}, [(4, 5)], {}),
  ("CausalDense", {}, [(2, 5)], {}),
  ("Transposed", {}, [(2, 5)], {}),
  ("Masked", {}, [(2, 5)], {}),
  ("Normalised", {}, [(4, 5)], {}),
  ("TiedBack", {}, [(2, 5)], {}),
  ("ScaledMethod", {}, [(2, 5)], {}),
]
