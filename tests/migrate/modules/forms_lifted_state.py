"""Shared modules under scan and vmap that change: statistics, dropout, variables; `CASES` as in forms_basic.

`STREAMS` are cases that draw random numbers: see test_lifted_state.
"""

import functools

import jax
import jax.numpy as jnp
from flax import linen as nn


class NormStep(nn.Module):
  @nn.compact
  def __call__(self, c, x):
    h = nn.Dense(4)(c + x)
    h = nn.BatchNorm(use_running_average=False)(h)
    return h, h


class ScanStackedStatistics(nn.Module):
  @nn.compact
  def __call__(self, c, xs):
    return nn.scan(NormStep, variable_axes={'params': 0, 'batch_stats': 0}, split_rngs={'params': True})()(c, xs)


class ScanCarriedVariable(nn.Module):
  def setup(self):
    self.n = self.variable('state', 'n', lambda: jnp.zeros((), jnp.int32))
    self.d = nn.Dense(4)
  def __call__(self, c, xs):
    def body(m, c, x):
      c = m.d(c + x) * (1 + m.n.value)
      m.n.value = m.n.value + 1
      return c, c
    return nn.scan(body, variable_broadcast='params', variable_carry='state', split_rngs={'params': False})(self, c, xs)


class CountingStep(nn.Module):
  @nn.compact
  def __call__(self, c, x):
    n = self.variable('state', 'n', lambda: jnp.zeros((), jnp.int32))
    c = nn.Dense(4)(c + x) * (1 + n.value)
    n.value = n.value + 1
    return c, c


class ScanStackedVariable(nn.Module):
  @nn.compact
  def __call__(self, c, xs):
    return nn.scan(CountingStep, variable_axes={'params': 0, 'state': 0}, split_rngs={'params': True})()(c, xs)


class NormDense(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.BatchNorm(use_running_average=False)(nn.Dense(3)(x))


class VmapStackedStatistics(nn.Module):
  @nn.compact
  def __call__(self, x):
    lifted = nn.vmap(NormDense, variable_axes={'params': 0, 'batch_stats': 0}, split_rngs={'params': True}, axis_size=3)
    return lifted()(x)


class NormAcross(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.BatchNorm(use_running_average=False, axis_name='m')(nn.Dense(3)(x))


class VmapSharedStatistics(nn.Module):
  @nn.compact
  def __call__(self, x):
    axes = {'params': None, 'batch_stats': None}
    return nn.vmap(NormAcross, variable_axes=axes, split_rngs={'params': False}, in_axes=0, axis_name='m')()(x)


class VmapStatisticsAlongOne(nn.Module):
  @nn.compact
  def __call__(self, x):
    axes = {'params': 1, 'batch_stats': 1}
    lifted = nn.vmap(
      NormAcross, variable_axes=axes, split_rngs={'params': True}, in_axes=1, out_axes=2, axis_name='m', axis_size=2)
    return lifted()(x)


class DropStep(nn.Module):
  @nn.compact
  def __call__(self, c, x):
    h = nn.Dropout(0.5, deterministic=False)(nn.Dense(4)(c + x))
    return h, h


class ScanShared(nn.Module):
  @nn.compact
  def __call__(self, c, xs):
    return nn.scan(DropStep, variable_broadcast='params', split_rngs={'params': False, 'dropout': True})()(c, xs)


class NoiseStep(nn.Module):
  @nn.compact
  def __call__(self, c, x):
    h = nn.Dropout(0.5, deterministic=False, rng_collection='noise')(nn.Dense(4)(c + x))
    return h, h


class ScanOtherStream(nn.Module):
  @nn.compact
  def __call__(self, c, xs):
    split = {'params': False, 'noise': True, 'dropout': False}
    return nn.scan(NoiseStep, variable_broadcast='params', split_rngs=split)()(c, xs)


class ScanSharedTwice(nn.Module):
  def setup(self):
    self.step = nn.scan(DropStep, variable_broadcast='params', split_rngs={'params': False, 'dropout': True}, in_axes=-1, out_axes=-1)()
  def __call__(self, c, xs):
    c, a = self.step(c, xs)
    c, b = self.step(c, xs)
    return c, a + b


class ScanStacked(nn.Module):
  @nn.compact
  def __call__(self, c, xs):
    return nn.scan(DropStep, variable_axes={'params': 0}, split_rngs={'params': True, 'dropout': True})()(c, xs)


class ScanFunction(nn.Module):
  def setup(self):
    self.d = nn.Dense(4)
    self.drop = nn.Dropout(0.5)
  def __call__(self, c, xs, train=True):
    def body(m, c, x):
      h = m.drop(m.d(c + x), deterministic=not train)
      return h, h
    return nn.scan(body, variable_broadcast='params', split_rngs={'params': False, 'dropout': True})(self, c, xs)


class ScanMethod(nn.Module):
  @functools.partial(nn.scan, variable_broadcast='params', split_rngs={'params': False, 'dropout': True})
  @nn.compact
  def __call__(self, c, x):
    h = nn.Dropout(0.5, deterministic=False)(nn.Dense(4)(c + x))
    return h, h


class ScanOfRemat(nn.Module):
  @nn.compact
  def __call__(self, c, xs):
    body = nn.remat(DropStep, prevent_cse=False)
    return nn.scan(body, variable_broadcast='params', split_rngs={'params': False, 'dropout': True})()(c, xs)


class DropDense(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dropout(0.5, deterministic=False)(nn.Dense(3)(x))


class VmapShared(nn.Module):
  @nn.compact
  def __call__(self, x):
    lifted = nn.vmap(DropDense, variable_axes={'params': None}, split_rngs={'params': False, 'dropout': True}, in_axes=0)
    return lifted()(x)


class VmapSharedTwice(nn.Module):
  def setup(self):
    self.v = nn.vmap(DropDense, variable_axes={'params': None}, split_rngs={'params': False, 'dropout': True}, in_axes=1, out_axes=-1)()
  def __call__(self, x):
    return self.v(x) + self.v(x)


class VmapFunction(nn.Module):
  @nn.compact
  def __call__(self, x):
    d = DropDense()
    f = nn.vmap(lambda m, y: m(y), variable_axes={'params': None}, split_rngs={'params': False, 'dropout': True})
    return f(d, x)


class VmapStacked(nn.Module):
  @nn.compact
  def __call__(self, x):
    split = {'params': True, 'dropout': True}
    return nn.vmap(DropDense, variable_axes={'params': -1}, split_rngs=split, in_axes=None, axis_size=3)()(x)


class VmapOfScan(nn.Module):
  @nn.compact
  def __call__(self, c, xs):
    split = {'params': False, 'dropout': True}
    S = nn.scan(DropStep, variable_broadcast='params', split_rngs=split)
    V = nn.vmap(S, variable_axes={'params': None}, split_rngs=split, in_axes=(0, None))
    return V()(c, xs)


class ScanOfVmap(nn.Module):
  @nn.compact
  def __call__(self, c, xs):
    split = {'params': False, 'dropout': True}
    V = nn.vmap(DropStep, variable_axes={'params': None}, split_rngs=split, in_axes=(0, None))
    S = nn.scan(V, variable_broadcast='params', split_rngs=split)
    return S()(c, xs)


class Two(nn.Module):
  def setup(self): self.d = nn.Dense(4)
  def __call__(self, x): return self.d(x)
  def encode(self, x, k): return self.d(x) * k


class VmapOneMethod(nn.Module):
  @nn.compact
  def __call__(self, x):
    lifted = nn.vmap(
      Two, methods=['encode'], variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=(0, None), axis_size=3)
    return lifted().encode(x, 2)


class RematOneMethod(nn.Module):
  @nn.compact
  def __call__(self, x):
    two = nn.remat(Two)()
    return two(two.encode(x, 2.0))


class ScanOfCell(nn.Module):
  @nn.compact
  def __call__(self, xs):
    cell = nn.scan(nn.LSTMCell, variable_broadcast='params', split_rngs={'params': False}, in_axes=1, out_axes=1)(4)
    carry = cell.initialize_carry(jax.random.key(0), xs[:, 0].shape)
    return cell(carry, xs)


class OnOneLine(nn.Module):
  f: int = 4
  def setup(self): self.d = nn.Dense(self.f); self.e = nn.Dense(4)  # both
  def __call__(self, x): return self.e(self.d(x))


class LiftedOnOneLine(nn.Module):
  @nn.compact
  def __call__(self, x): return nn.vmap(nn.Dense, variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=None, axis_size=3)(4)(x)


class Dropped(nn.Module):
  width: int = 4
  @nn.compact
  def __call__(self, x):
    return nn.Dropout(0.5, deterministic=False)(nn.Dense(self.width)(x))


class VmapOneMask(nn.Module):
  """All members drop the same."""
  @nn.compact
  def __call__(self, x):
    lifted = nn.vmap(Dropped, variable_axes={'params': None}, split_rngs={'params': False, 'dropout': False})
    return lifted()(x)


class VmapOneMaskAround(nn.Module):
  @nn.compact
  def __call__(self, x):
    lifted = nn.vmap(VmapOneMask, variable_axes={'params': None}, split_rngs={'params': False, 'dropout': False})
    return lifted(name='inner')(x)


STEPS = [(2, 4), (3, 2, 4)]
CASES = [
  ('ScanStackedStatistics', {}, STEPS, {}),
  ('ScanCarriedVariable', {}, STEPS, {}),
  ('ScanStackedVariable', {}, STEPS, {}),
  ('VmapStackedStatistics', {}, [(3, 2, 4)], {}),
  ('VmapSharedStatistics', {}, [(3, 2, 4)], {}),
  ('VmapStatisticsAlongOne', {}, [(3, 2, 4)], {}),
  ('ScanFunction', {}, STEPS, {'train': False}),
  ('VmapOneMethod', {}, [(3, 2, 4)], {}),
  ('RematOneMethod', {}, [(2, 4)], {}),
  ('ScanOfCell', {}, [(2, 3, 4)], {}),
  ('OnOneLine', {}, [(2, 3)], {}),
  ('LiftedOnOneLine', {}, [(2, 3)], {}),
]
MANY = [(8, 4), (5, 8, 4)]
STREAMS = [
  ('ScanShared', MANY),
  ('ScanSharedTwice', [(8, 4), (8, 4, 5)]),
  ('ScanStacked', MANY),
  ('ScanOtherStream', MANY),
  ('ScanFunction', MANY),
  ('ScanMethod', MANY),
  ('ScanOfRemat', MANY),
  ('VmapShared', [(5, 8, 4)]),
  ('VmapSharedTwice', [(8, 8, 4)]),
  ('VmapFunction', [(5, 8, 4)]),
  ('VmapStacked', [(8, 4)]),
  ('VmapOfScan', [(5, 8, 4), (6, 8, 4)]),
  ('ScanOfVmap', [(5, 8, 4), (6, 8, 4)]),
]
# With the axes along which all masks are one.
ONE_MASK = [
  ('VmapOneMask', [(5, 8, 4)], (True, False, False)),
  ('VmapOneMaskAround', [(3, 5, 8, 4)], (True, True, False, False)),
]
