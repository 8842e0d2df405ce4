"""Lifted transforms of classes, functions and methods, alone and within each other; `CASES` as in forms_basic."""

import functools
from collections.abc import Callable, Sequence
from typing import Any, Dict, Optional

import jax
import jax.numpy as jnp
from flax import linen as nn
from flax.linen import partitioning as nn_partitioning


class ScanFn(nn.Module):
  @nn.compact
  def __call__(self, xs):
    cell = nn.GRUCell(4)
    carry = cell.initialize_carry(jax.random.key(0), xs[:, 0].shape)
    def body(cell, carry, x):
      return cell(carry, x)
    scan = nn.scan(body, variable_broadcast='params', split_rngs={'params': False}, in_axes=1, out_axes=1)
    carry, ys = scan(cell, carry, xs)
    return carry, ys


class ScanFnSelf(nn.Module):
  @nn.compact
  def __call__(self, xs):
    def body(mdl, c, x):
      h = nn.Dense(4)(jnp.concatenate([c, x], -1))
      return jnp.tanh(h), h
    c, ys = nn.scan(body, variable_broadcast='params', split_rngs={'params': False})(self, jnp.zeros((2, 4)), xs)
    return c, ys


class ScanFnMapped(nn.Module):
  n: int = 3
  @nn.compact
  def __call__(self, x):
    def body(mdl, c, _):
      c = nn.relu(nn.Dense(4)(c)) + c
      return c, None
    x, _ = nn.scan(body, variable_axes={'params': 0}, split_rngs={'params': True}, length=self.n)(self, x, None)
    return x


class ScanLambda(nn.Module):
  def setup(self):
    self.d = nn.Dense(4)
  def __call__(self, xs):
    f = nn.scan(lambda m, c, x: (m.d(c + x), c), variable_broadcast='params', split_rngs={'params': False})
    return f(self, jnp.zeros((2, 4)), xs)


class ScanSub(nn.Module):
  def setup(self):
    self.d = nn.Dense(4)
  def __call__(self, xs):
    f = nn.scan(lambda d, c, x: (d(c + x), c), variable_broadcast='params', split_rngs={'params': False}, reverse=True, unroll=2)
    return f(self.d, jnp.zeros((2, 4)), xs)


class ScanMethodDeco(nn.Module):
  @functools.partial(nn.scan, variable_broadcast='params', split_rngs={'params': False})
  @nn.compact
  def __call__(self, c, x):
    return nn.GRUCell(4)(c, x)


class ScanMethodDecoTr(nn.Module):
  features: int = 4
  @functools.partial(nn.transforms.scan, variable_broadcast='params', in_axes=1, out_axes=1, split_rngs={'params': False})
  @nn.compact
  def __call__(self, carry, x):
    return nn.OptimizedLSTMCell(self.features)((carry, carry), x)[0][0], x


class ScanMethodName(nn.Module):
  def setup(self):
    self.d = nn.Dense(4)
  @functools.partial(nn.scan, variable_broadcast='params', split_rngs={'params': False})
  def step(self, c, x):
    return self.d(c + x), c
  def __call__(self, xs):
    return self.step(jnp.zeros((2, 4)), xs)


class VmapFn(nn.Module):
  n: int = 3
  @nn.compact
  def __call__(self, x):
    def f(mdl, x):
      return nn.Dense(5)(nn.relu(nn.Dense(4)(x)))
    return nn.vmap(f, variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=None, out_axes=0, axis_size=self.n)(self, x)


class VmapFnShared(nn.Module):
  @nn.compact
  def __call__(self, x):
    d = nn.Dense(5)
    return nn.vmap(lambda m, y: m(y), variable_axes={'params': None}, split_rngs={'params': False}, in_axes=0, out_axes=0)(d, x)


class VmapNoSize(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.vmap(nn.Dense, variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=0, out_axes=0)(5)(x)


class VmapNoSize1(nn.Module):
  @nn.compact
  def __call__(self, x):
    VD = nn.vmap(nn.Dense, variable_axes={'params': -1}, split_rngs={'params': True}, in_axes=1, out_axes=1)
    return VD(5, name='vd')(x)


class BodyOfScanNoLen(nn.Module):
  @nn.compact
  def __call__(self, c, x):
    c = nn.Dense(4)(c) + x
    return c, c
class ScanNoLen(nn.Module):
  @nn.compact
  def __call__(self, c, xs):
    return nn.scan(BodyOfScanNoLen, variable_axes={'params': 0}, split_rngs={'params': True})()(c, xs)


class InnerOfVmapKw(nn.Module):
  @nn.compact
  def __call__(self, x, scale=1.0, train=False):
    return nn.Dense(3)(x) * scale
class VmapKw(nn.Module):
  @nn.compact
  def __call__(self, x, train=False):
    return nn.vmap(InnerOfVmapKw, variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=None, axis_size=3)()(x, train=train)


class RematFn(nn.Module):
  @nn.compact
  def __call__(self, x):
    def block(mdl, x):
      return nn.relu(nn.Dense(4)(x))
    return nn.remat(block)(self, x)


class RematFn2(nn.Module):
  def setup(self):
    self.a = nn.Dense(4)
  def block(self, x, train):
    x = self.a(x)
    return nn.relu(x) if train else x
  def __call__(self, x, train=True):
    return nn.remat(RematFn2.block, static_argnums=(2,))(self, x, train)


class RematMethodDeco(nn.Module):
  @nn.remat
  @nn.compact
  def __call__(self, x):
    return nn.relu(nn.Dense(4)(x))


class RematMethodDeco2(nn.Module):
  def setup(self):
    self.a = nn.Dense(4)
  @functools.partial(nn.remat, policy=jax.checkpoint_policies.nothing_saveable)
  def block(self, x):
    return nn.relu(self.a(x))
  def __call__(self, x):
    return self.block(x)


class BlockOfRematVar2(nn.Module):
  f: int
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.f)(x)
class RematVar2(nn.Module):
  use: bool = False
  policy: str = 'minimal'
  def setup(self):
    B = BlockOfRematVar2
    if self.use:
      if self.policy == 'minimal':
        pol = jax.checkpoint_policies.checkpoint_dots_with_no_batch_dims
      else:
        pol = None
      B = nn.remat(B, policy=pol, prevent_cse=False)
    self.layers = [B(4) for _ in range(3)]
  def __call__(self, x):
    for l in self.layers:
      x = l(x)
    return x


class BlockOfRematLoop(nn.Module):
  f: int
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.f)(x)
class RematLoop(nn.Module):
  n: int = 2
  @nn.compact
  def __call__(self, x):
    for i in range(self.n):
      x = nn.checkpoint(BlockOfRematLoop, prevent_cse=False)(4)(x)
    return x


class BlockOfScanRemat(nn.Module):
  @nn.compact
  def __call__(self, c, _):
    return nn.relu(nn.Dense(4)(c)), None
class ScanRemat(nn.Module):
  n: int = 3
  @nn.compact
  def __call__(self, x):
    B = nn.remat(BlockOfScanRemat, prevent_cse=False)
    S = nn.scan(B, variable_axes={'params': 0}, split_rngs={'params': True}, length=self.n)
    x, _ = S(name='layers')(x, None)
    return x


class BlockOfScanBcast(nn.Module):
  d: int
  @nn.compact
  def __call__(self, c, m, train):
    y = nn.Dense(self.d)(c) * m
    y = nn.Dropout(0.5, deterministic=not train)(y)
    return y, None
class ScanBcast(nn.Module):
  n: int = 3
  @nn.compact
  def __call__(self, x, m, train=False):
    x, _ = nn.scan(BlockOfScanBcast, variable_axes={'params': 0}, split_rngs={'params': True, 'dropout': True}, in_axes=(nn.broadcast, nn.broadcast), length=self.n, metadata_params={nn.PARTITION_NAME: 'layers'})(4, name='l')(x, m, train)
    return x


class BlockOfScanBS(nn.Module):
  d: int
  @nn.compact
  def __call__(self, c, _):
    y = nn.Dense(self.d)(c)
    y = nn.BatchNorm(use_running_average=False)(y)
    return y, None
class ScanBS(nn.Module):
  n: int = 3
  @nn.compact
  def __call__(self, x):
    x, _ = nn.scan(BlockOfScanBS, variable_axes={'params': 0, 'batch_stats': 0}, split_rngs={'params': True}, length=self.n)(4, name='l')(x, None)
    return x


class BlockOfVmapBS(nn.Module):
  d: int
  @nn.compact
  def __call__(self, c):
    y = nn.Dense(self.d)(c)
    return nn.BatchNorm(use_running_average=False, axis_name='batch')(y)
class VmapBS(nn.Module):
  n: int = 3
  @nn.compact
  def __call__(self, x):
    return nn.vmap(BlockOfVmapBS, variable_axes={'params': None, 'batch_stats': None}, split_rngs={'params': False}, axis_name='batch', in_axes=0, out_axes=0)(4)(x)


class BlockOfScanSetup(nn.Module):
  d: int
  @nn.compact
  def __call__(self, c, _):
    return nn.Dense(self.d)(c), None
class ScanSetup(nn.Module):
  n: int = 3
  def setup(self):
    self.layers = nn.scan(BlockOfScanSetup, variable_axes={'params': 0}, split_rngs={'params': True}, length=self.n)(4)
  def __call__(self, x):
    x, _ = self.layers(x, None)
    return x


class BlockOfScanSetup2(nn.Module):
  d: int
  @nn.compact
  def __call__(self, c):
    return nn.Dense(self.d)(c), None
class ScanSetup2(nn.Module):
  n: int = 3
  def setup(self):
    S = nn.scan(nn.remat(BlockOfScanSetup2), variable_axes={'params': 0}, split_rngs={'params': True}, length=self.n, metadata_params={nn.PARTITION_NAME: 'layers'})
    self.layers = S(4)
    self.out = nn.Dense(2)
  def __call__(self, x):
    x, _ = self.layers(x)
    return self.out(x)


class BlockOfScanLoop(nn.Module):
  d: int
  @nn.compact
  def __call__(self, c, _):
    return nn.Dense(self.d)(c), None
class ScanLoop(nn.Module):
  @nn.compact
  def __call__(self, x):
    for i in range(2):
      x, _ = nn.scan(BlockOfScanLoop, variable_axes={'params': 0}, split_rngs={'params': True}, length=3)(4)(x, None)
    return x


class VmapLoop(nn.Module):
  @nn.compact
  def __call__(self, x):
    for f in (4, 5):
      x = nn.vmap(nn.Dense, variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=0, out_axes=0, axis_size=2)(f)(x)
    return x


class BlockOfScanVmap(nn.Module):
  d: int
  @nn.compact
  def __call__(self, c, _):
    return nn.Dense(self.d)(c), None
class ScanVmap(nn.Module):
  n: int = 3
  @nn.compact
  def __call__(self, x):
    V = nn.vmap(BlockOfScanVmap, variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=(0, None), out_axes=(0, None), axis_size=2)
    S = nn.scan(V, variable_axes={'params': 0}, split_rngs={'params': True}, length=self.n)
    x, _ = S(4)(x, None)
    return x


class VmapVmap(nn.Module):
  @nn.compact
  def __call__(self, x):
    V = nn.vmap(nn.Dense, variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=0, out_axes=0, axis_size=3)
    V = nn.vmap(V, variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=0, out_axes=0, axis_size=2)
    return V(5)(x)


class BlockOfVmapScan(nn.Module):
  d: int
  @nn.compact
  def __call__(self, c, _):
    return nn.Dense(self.d)(c), None
class VmapScan(nn.Module):
  n: int = 3
  @nn.compact
  def __call__(self, x):
    S = nn.scan(BlockOfVmapScan, variable_axes={'params': 0}, split_rngs={'params': True}, length=self.n)
    V = nn.vmap(S, variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=(0, None), out_axes=(0, None), axis_size=2)
    x, _ = V(4)(x, None)
    return x


class JitC(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.jit(nn.Dense)(3)(x)


class JitDeco(nn.Module):
  @nn.jit
  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(x)


class SwitchF(nn.Module):
  def setup(self):
    self.heads = [nn.Dense(3) for _ in range(2)]
  def head_fn(self, i):
    return lambda mdl, x: mdl.heads[i](x)
  def __call__(self, x, index):
    branches = [lambda m, x: m.heads[0](x), lambda m, x: m.heads[1](x)]
    if self.is_mutable_collection('params'):
      for b in branches:
        _ = b(self, x)
    return nn.switch(index, branches, self, x)


class WhileF(nn.Module):
  @nn.compact
  def __call__(self, x):
    d = nn.Dense(4)
    d(x)
    def cond_fn(m, c):
      return c[0] < 3
    def body_fn(m, c):
      return c[0] + 1, m(c[1])
    return nn.while_loop(cond_fn, body_fn, d, (0, x))[1]


scan_with_axesOfSwa = nn_partitioning.scan_with_axes
rematOfSwa = nn_partitioning.remat
class BlockOfSwa(nn.Module):
  d: int
  @nn.compact
  def __call__(self, c, _):
    k = nn_partitioning.param_with_axes('k', nn.initializers.normal(), (self.d, self.d), axes=('embed', 'mlp'))
    return c @ k, None
class Swa(nn.Module):
  n: int = 3
  @nn.compact
  def __call__(self, x):
    B = rematOfSwa(BlockOfSwa, prevent_cse=False, policy=None)
    x, _ = scan_with_axesOfSwa(B, variable_axes={'params': 0}, split_rngs={'params': True}, length=self.n, axis_name='layers')(4, name='l')(x, None)
    return x


class BlockOfScanPartial(nn.Module):
  d: int
  @nn.compact
  def __call__(self, c, _):
    return nn.Dense(self.d)(c), None
class ScanPartial(nn.Module):
  n: int = 3
  @nn.compact
  def __call__(self, x):
    scan = functools.partial(nn.scan, variable_axes={'params': 0}, split_rngs={'params': True})
    x, _ = scan(BlockOfScanPartial, length=self.n)(4)(x, None)
    return x


class BlockOfScanIn2(nn.Module):
  d: int
  @nn.compact
  def __call__(self, c, x, k):
    c = nn.Dense(self.d)(c) + x['a'] * k
    return c, {'y': c}
class ScanIn2(nn.Module):
  n: int = 3
  @nn.compact
  def __call__(self, x, m):
    x, ys = nn.scan(BlockOfScanIn2, variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=({'a': 0}, nn.broadcast), out_axes={'y': 1}, length=self.n)(4)(x, {'a': m}, 2.0)
    return x, ys


class BlockOfScanMethods(nn.Module):
  d: int
  def setup(self):
    self.l = nn.Dense(self.d)
  def __call__(self, c, _):
    return self.l(c), None
  def other(self, c, _):
    return jnp.tanh(self.l(c)), None
class ScanMethods(nn.Module):
  n: int = 3
  @nn.compact
  def __call__(self, x):
    S = nn.scan(BlockOfScanMethods, variable_axes={'params': 0}, split_rngs={'params': True}, length=self.n, methods=['__call__', 'other'])
    s = S(4)
    x, _ = s(x, None)
    x, _ = s.other(x, None)
    return x


CASES: list[Any] = [
    ('ScanFn', dict(), [(2,5,3)], dict()),
    ('ScanFnSelf', dict(), [(5,2,3)], dict()),
    ('ScanFnMapped', dict(n=3), [(2,4)], dict()),
    ('ScanLambda', dict(), [(5,2,4)], dict()),
    ('ScanSub', dict(), [(5,2,4)], dict()),
    ('ScanMethodDeco', dict(), [(2,4),(5,2,3)], dict()),
    ('ScanMethodDecoTr', dict(), [(2,4),(2,5,3)], dict()),
    ('ScanMethodName', dict(), [(5,2,4)], dict()),
    ('VmapFn', dict(n=3), [(2,4)], dict()),
    ('VmapFnShared', dict(), [(3,2,4)], dict()),
    ('VmapNoSize', dict(), [(3,2,4)], dict()),
    ('VmapNoSize1', dict(), [(2,3,4)], dict()),
    ('ScanNoLen', dict(), [(2,4),(3,2,4)], dict()),
    ('VmapKw', dict(), [(2,4)], dict()),
    ('RematFn', dict(), [(2,4)], dict()),
    ('RematFn2', dict(), [(2,4)], dict()),
    ('RematMethodDeco', dict(), [(2,4)], dict()),
    ('RematMethodDeco2', dict(), [(2,4)], dict()),
    ('RematVar2', dict(use=True), [(2,4)], dict()),
    ('RematLoop', dict(n=2), [(2,4)], dict()),
    ('ScanRemat', dict(n=3), [(2,4)], dict()),
    ('ScanBcast', dict(n=3), [(2,4),(2,4)], dict()),
    ('ScanBS', dict(n=3), [(2,4)], dict()),
    ('VmapBS', dict(n=3), [(2,4)], dict()),
    ('ScanSetup', dict(n=3), [(2,4)], dict()),
    ('ScanSetup2', dict(n=3), [(2,4)], dict()),
    ('ScanLoop', dict(), [(2,4)], dict()),
    ('VmapLoop', dict(), [(2,4)], dict()),
    ('ScanVmap', dict(n=3), [(2,4)], dict()),
    ('VmapVmap', dict(), [(2,3,4)], dict()),
    ('VmapScan', dict(n=3), [(2,4)], dict()),
    ('JitC', dict(), [(2,4)], dict()),
    ('JitDeco', dict(), [(2,4)], dict()),
    ('SwitchF', dict(), [(2,4), 1], dict()),
    ('WhileF', dict(), [(2,4)], dict()),
    ('Swa', dict(n=3), [(2,4)], dict()),
    ('ScanPartial', dict(n=3), [(2,4)], dict()),
    ('ScanIn2', dict(n=3), [(2,4),(3,2,4)], dict()),
    ('ScanMethods', dict(n=3), [(2,4)], dict()),
]
