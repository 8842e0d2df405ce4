"""What cannot become native stays Linen, byte for byte, with the code that says why."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

HEAD = "import functools\nfrom typing import Any\nimport jax\nimport jax.numpy as jnp\nfrom flax import linen as nn\n\n\n"

REFUSED = {
    "a field called as a parameter of the metaclass": (
        "NNX151",
        """class M(nn.Module):
  cls: Any = nn.Dense
  @nn.compact
  def __call__(self, x):
    return self.cls(3)(x)
""",
    ),
    "a list of one text whose sizes change where it is handed to": (
        "NNX114",
        """class Chain(nn.Module):
  layers: Any
  @nn.compact
  def __call__(self, x):
    for layer in self.layers:
      x = layer(x)
    return x


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Chain([nn.Dense(7) for _ in range(3)])(x)
""",
    ),
    "a list of what another package makes, which is called": (
        "NNX138",
        """from otherlib import Block


class M(nn.Module):
  def setup(self):
    self.blocks = tuple(Block(4) for _ in range(3))
  def __call__(self, x):
    for block in self.blocks:
      x = block(x)
    return x
""",
    ),
    "a dict of what another package makes": (
        "NNX138",
        """import otherlib


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    blocks = {k: otherlib.Block(4) for k in ('a', 'b')}
    return blocks['a'](x)
""",
    ),
    "layers for the items of a dict, which an array has not": (
        "NNX134",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    if hasattr(x, 'keys'):
      x = jnp.concatenate([nn.Dense(3, name=k)(v) for k, v in sorted(x.items())], -1)
    return nn.Dense(4)(x)
""",
    ),
    "a name bound by functools.partial": (
        "NNX155",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    norm = functools.partial(nn.LayerNorm, name='own')
    return norm(epsilon=1e-3)(x)
""",
    ),
    "a name bound by functools.partial of a field": (
        "NNX155",
        """class M(nn.Module):
  norm: Any = nn.LayerNorm
  @nn.compact
  def __call__(self, x):
    norm = functools.partial(self.norm, name='own')
    return norm()(x)
""",
    ),
    "a local name for a field's factory or what a method makes of it": (
        "NNX138",
        """class Normed:
  def spectral_norm(self, layer, train=False):
    return functools.partial(layer, use_bias=train)


class M(Normed, nn.Module):
  dense: Any = nn.Dense
  @nn.compact
  def __call__(self, x):
    if hasattr(self, 'spectral_norm'):
      dense = self.spectral_norm(self.dense, train=False)
    else:
      dense = self.dense
    return dense(3, name='hidden')(x)
""",
    ),
    "modules in a list that code outside of modules gives to what does more than call them in turn": (
        "NNX127",
        """class M(nn.Module):
  layers: Any
  @nn.compact
  def __call__(self, x):
    for layer in self.layers:
      x = x + layer(x)
    return x


def build(n):
  layers = [nn.Dense(n)]
  layers.append(nn.Dense(2))
  return M(layers)
""",
    ),
    "a module of setup whose width is that of one which is made after it": (
        "NNX114",
        """class Body(nn.Module):
  widths: Any
  @nn.compact
  def __call__(self, x):
    for i in range(len(self.widths)):
      x = nn.Dense(self.widths[i])(x)
    return x


class M(nn.Module):
  widths: Any
  def setup(self):
    self.head = nn.Dense(3)
    self.body = Body(self.widths)
  def __call__(self, x):
    return self.head(self.body(x))
""",
    ),
    "a flag of the call in a field that the call does not take": (
        "NNX113",
        """class Norm(nn.Module):
  train: Any = None
  @nn.compact
  def __call__(self, x):
    return nn.BatchNorm(use_running_average=not self.train)(x)


class M(nn.Module):
  @nn.compact
  def __call__(self, x, train: bool = False):
    return Norm(train=train)(x)
""",
    ),
    "a list of modules that nothing gives": (
        "NNX138",
        """from collections.abc import Sequence


class M(nn.Module):
  layers: Sequence[nn.Module]
  @nn.compact
  def __call__(self, x):
    for layer in self.layers:
      x = layer(x)
    return x
""",
    ),
    "a layer of another package": (
        "NNX138",
        """from elsewhere import Block


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Block(8)(x)
""",
    ),
    "a layer of another package, made in setup": (
        "NNX138",
        """import elsewhere


class M(nn.Module):
  kind: str = 'a'
  def setup(self):
    self.block = elsewhere.REGISTRY[self.kind](8)
  def __call__(self, x):
    return self.block(x)
""",
    ),
    "a class of a module imported by name": (
        "NNX138",
        """import importlib


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    model = importlib.import_module('models.vit').Model(8, name='img')
    return model(x)
""",
    ),
    "a layer class looked up by name": (
        "NNX138",
        """class M(nn.Module):
  kind: str = 'Dense'
  @nn.compact
  def __call__(self, x):
    return getattr(nn, self.kind)(8)(x)
""",
    ),
    "a condition of setup on what a parameter is": (
        "NNX180",
        """class M(nn.Module):
  def setup(self):
    self.w = self.param('w', nn.initializers.ones, (3,))
    if self.w.sum() > 0:
      self.scale = jnp.exp(self.w)
    else:
      self.scale = self.w
  def __call__(self, x):
    return x * self.scale
""",
    ),
    "a parameter whose start follows another's": (
        "NNX180",
        """class M(nn.Module):
  def setup(self):
    self.w = self.param('w', nn.initializers.ones, (3,))
    start = jnp.exp(self.w)
    self.v = self.param('v', lambda key: start)
  def __call__(self, x):
    return x * self.v
""",
    ),
    "what setup computes from a parameter, changed by a method": (
        "NNX180",
        """class M(nn.Module):
  def setup(self):
    self.w = self.param('w', nn.initializers.ones, (3,))
    self.scale = jnp.exp(self.w)
  def __call__(self, x):
    object.__setattr__(self, 'scale', 2)
    self.scale += 1
    return x * self.scale
""",
    ),
    "what a base computes from a parameter in setup": (
        "NNX180",
        """class M(nn.Module):
  def setup(self):
    self.w = self.param('w', nn.initializers.ones, (3,))
    self.scale = jnp.exp(self.w)
  def __call__(self, x):
    return x * self.scale


class Derived(M):
  def __call__(self, x):
    return x + self.scale
""",
    ),
    "a method of setup that reads what setup computes": (
        "NNX180",
        """class M(nn.Module):
  def setup(self):
    self.w = self.param('w', nn.initializers.ones, (3,))
    self.scale = jnp.exp(self.w)
    self.twice = self.double()
  def double(self):
    return 2 * self.scale
  def __call__(self, x):
    return x * self.twice
""",
    ),
    "a list of parameters in setup": (
        "NNX180",
        """class M(nn.Module):
  def setup(self):
    self.ws = [self.param(f'w{i}', nn.initializers.ones, (3,)) for i in range(2)]
  def __call__(self, x):
    return x * self.ws[0] * self.ws[1]
""",
    ),
    "a module called in setup": (
        "NNX180",
        """class M(nn.Module):
  def setup(self):
    self.embed = nn.Embed(4, 3)
    self.table = self.embed(jnp.arange(4))
  def __call__(self, x):
    return x + self.table[0]
""",
    ),
    "all variables of a submodule at once": (
        "NNX164",
        """class M(nn.Module):
  def setup(self):
    self.inner = nn.Dense(4)
  def __call__(self, x):
    y = self.inner(x)
    return y, jax.tree.map(jnp.sum, self.inner.variables['params'])
""",
    ),
    "a variable looked up that another class makes": (
        "NNX164",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4)(x) + self.variables['statistics']['mean']
""",
    ),
    "a variable looked up under a computed name": (
        "NNX147",
        """class M(nn.Module):
  which: str = 'a'
  @nn.compact
  def __call__(self, x):
    a = self.variable('state', 'a', jnp.zeros, ())
    return nn.Dense(4)(x) + a.value + self.get_variable('state', self.which)
""",
    ),
    "an entry of a table of functions that change shapes": (
        "NNX110",
        """TABLE = {'mean': lambda v: v.mean(axis=-1, keepdims=True), 'relu': jax.nn.relu}


class M(nn.Module):
  kind: str = 'relu'
  def setup(self):
    self.pool = TABLE[self.kind]
    self.out = nn.Dense(4)
  def __call__(self, x):
    return self.out(self.pool(x))
""",
    ),
    "an item that only some results have": (
        "NNX110",
        """class M(nn.Module):
  def setup(self):
    self.dense = nn.Dense(4)
    self.head = nn.Dense(3)
  def parts(self, x, more):
    y = self.dense(x)
    return (y, y[..., :2]) if more else (y,)
  def __call__(self, x, more: bool = False):
    outputs = self.parts(x, more)
    return self.head(outputs[1]) if more else outputs[0]
""",
    ),
    "a factory field that nobody fills": (
        "NNX138",
        """class M(nn.Module):
  conv: Any
  @nn.compact
  def __call__(self, x):
    return self.conv(4, (3, 3))(x)
""",
    ),
    "a field of two kinds that count under one name": (
        "NNX163",
        """class M(nn.Module):
  part: Any
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4)(self.part(features=4)(x))


class N(nn.Module):
  @nn.compact
  def __call__(self, x):
    return M(nn.Dense)(x) + M(nn.DenseGeneral)(x)
""",
    ),
    "a field of two kinds that NNX makes in different ways": (
        "NNX163",
        """class M(nn.Module):
  part: Any
  @nn.compact
  def __call__(self, x):
    return self.part(4, (3, 3))(x)


class N(nn.Module):
  @nn.compact
  def __call__(self, x):
    return M(nn.Conv)(x) + M(nn.ConvLocal)(x)
""",
    ),
    "a field of two kinds, one with a flag of the call, in nested loops": (
        "NNX163",
        """class M(nn.Module):
  norm: Any
  @nn.compact
  def __call__(self, x):
    for i in range(2):
      for j in range(i):
        x = self.norm()(x)
    return x


class N(nn.Module):
  @nn.compact
  def __call__(self, x, train):
    return M(functools.partial(nn.BatchNorm, use_running_average=not train))(x) + M(nn.LayerNorm)(x)
""",
    ),
    "a base's submodule that sees an input of the base's own nowhere": (
        "NNX161",
        """class B(nn.Module):
  def setup(self):
    self.a = nn.Dense(4)
    self.b = nn.Dense(4)

  def __call__(self, x):
    return self.a(x) + self.b(x)


class D(B):
  e: int = 3

  def __call__(self, x):
    return self.a(x) + self.b(x[..., :self.e])
""",
    ),
    "a layer's subclass whose call reads the layer": (
        "NNX136",
        """class M(nn.Dense):
  @nn.compact
  def __call__(self, x):
    return super().__call__(x) * self.features
""",
    ),
    "a layer's subclass that gives the layer other features": (
        "NNX136",
        """class Doubled(nn.LayerNorm):
  def __call__(self, x):
    return super().__call__(jnp.concatenate([x, x], axis=-1))
class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Doubled()(x)
""",
    ),
    "a layer's subclass whose param looks at the initializer": (
        "NNX160",
        """class M(nn.Dense):
  def param(self, name, init, *args):
    value = super().param(name, init, *args)
    return value if init is None else value * 2
""",
    ),
    "a field called rngs": (
        "NNX151",
        """class M(nn.Module):
  rngs: Any = None
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4)(x)
""",
    ),
    "a lifted method with optional arguments": (
        "NNX141",
        """class M(nn.Module):
  @functools.partial(nn.scan, variable_broadcast='params', split_rngs={'params': False})
  @nn.compact
  def __call__(self, c, x, scale=1.0):
    return nn.GRUCell(4)(c, x * scale)
""",
    ),
    "a transform applied outside of a module": (
        "NNX130",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4)(x)


Batched = nn.vmap(M, variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=0)
""",
    ),
    "a transform applied by a function outside of modules": (
        "NNX130",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4)(x)


def batched():
  return nn.vmap(M, variable_axes={'params': None}, split_rngs={'params': False})()
""",
    ),
    "a mapped class that is told its member's whole shape": (
        "NNX130",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return x + self.param('shift', nn.initializers.normal(), x.shape)


Batched = nn.vmap(M, variable_axes={'params': None}, split_rngs={'params': False}, in_axes=0)
""",
    ),
    "a mapped class whose calls give another number of arguments": (
        "NNX130",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x, scale=2.0):
    return nn.Dense(4)(x) * scale


Batched = nn.vmap(M, variable_axes={'params': None}, split_rngs={'params': False}, in_axes=0)
""",
    ),
    "a name for a lifted class that is bound twice": (
        "NNX130",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4)(x)


Batched = nn.remat(M)
if len('ab') > 1:
  Batched = nn.vmap(M, variable_axes={'params': None}, split_rngs={'params': False}, in_axes=0)
""",
    ),
    "auto names that depend on a condition, in two methods": (
        "NNX153",
        """class M(nn.Module):
  flag: bool = False
  @nn.compact
  def __call__(self, x):
    if self.flag:
      x = nn.Dense(4)(x)
    return self.head(x)

  def head(self, x):
    return nn.Dense(4)(x)
""",
    ),
    "a submodule made in a while loop": (
        "NNX122",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    while x.shape[-1] > 2:
      x = nn.Dense(x.shape[-1] // 2)(x)
    return x
""",
    ),
    "an input size that the call alone knows": (
        "NNX113",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x, width):
    return nn.Dense(width)(x)
""",
    ),
    "a function that stacks some variables of its module and not others": (
        "NNX130",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    x = nn.Dense(4, name='before')(x)

    def body(mdl, c, _):
      return nn.Dense(4)(c), None

    x, _ = nn.scan(body, variable_axes={'params': 0}, split_rngs={'params': True}, length=3)(self, x, None)
    return x
""",
    ),
    "every step of a scan drops the same": (
        "NNX168",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    def body(mdl, c, _):
      return nn.Dropout(0.5, deterministic=False)(nn.Dense(4)(c)), None

    f = nn.scan(body, variable_broadcast='params', split_rngs={'params': False, 'dropout': False}, length=3)
    return f(self, x, None)[0]
""",
    ),
    "a scan that carries some variables and stacks others": (
        "NNX168",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    def body(mdl, c, _):
      return nn.Dense(4)(c), None

    f = nn.scan(body, variable_axes={'params': 0}, variable_carry='state', split_rngs={'params': True}, length=3)
    return f(self, x, None)[0]
""",
    ),
    "a lifted function called with keywords, which Linen ignores": (
        "NNX141",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    f = nn.vmap(lambda mdl, x, y=1: nn.Dense(4)(x) * y, variable_axes={'params': None}, split_rngs={'params': False})
    return f(self, x, y=2)
""",
    ),
    "modules made in a branch of nn.cond": (
        "NNX134",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.cond(x.sum() > 0, lambda m, x: nn.Dense(4)(x), lambda m, x: nn.Dense(4)(x), self, x)
""",
    ),
    "a loop with modules that is left by break": (
        "NNX122",
        """class M(nn.Module):
  n: int = 3
  @nn.compact
  def __call__(self, x):
    for i in range(self.n):
      x = nn.Dense(4)(x)
      if i == 1:
        break
    return x
""",
    ),
    "a loop with modules that is left by return": (
        "NNX122",
        """class M(nn.Module):
  n: int = 3
  @nn.compact
  def __call__(self, x):
    for i in range(self.n):
      x = nn.Dense(4)(x)
      if i == 1:
        return x
    return nn.Dense(7)(x)
""",
    ),
    "a generator that makes its modules when it is asked": (
        "NNX123",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    layers = (nn.Dense(4) for _ in range(3))
    for layer in layers:
      x = layer(x)
    return x
""",
    ),
    "a factory out of a table, under a computed key": (
        "NNX132",
        """NORMS = {'layer': nn.LayerNorm, 'rms': nn.RMSNorm}


class M(nn.Module):
  kind: str = 'layer'
  @nn.compact
  def __call__(self, x):
    return NORMS[self.kind]()(x)
""",
    ),
    "a helper method that makes modules in a loop": (
        "NNX153",
        """class M(nn.Module):
  n: int = 3
  def block(self, x):
    return nn.relu(nn.Dense(4)(x))

  @nn.compact
  def __call__(self, x):
    for i in range(self.n):
      x = self.block(x)
    return x
""",
    ),
    "methods that are intercepted": (
        "NNX130",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    with nn.intercept_methods(lambda f, args, kwargs, context: f(*args, **kwargs) * 2):
      return nn.Dense(4)(x)
""",
    ),
    "a layer with a call of its own, given to jax.vmap as it is": (
        "NNX134",
        """class M(nn.Module):
  def setup(self):
    self.bn = nn.BatchNorm(use_running_average=False)

  def __call__(self, x):
    return jax.vmap(self.bn)(x)
""",
    ),
    "a cell of images": (
        "NNX160",
        """class M(nn.RNNCellBase):
  @nn.compact
  def __call__(self, carry, x):
    y = nn.Conv(3, (3, 3))(x) + carry
    return y, y

  def initialize_carry(self, rng, input_shape):
    return jnp.zeros((*input_shape[:-1], 3))

  @property
  def num_feature_axes(self):
    return 3
""",
    ),
    "a list of skips that grows under a condition of the call": (
        "NNX110",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x, train=False):
    skips = []
    for i in range(3):
      x = nn.Dense(4 + i)(x)
      if train:
        skips.append(x)
    for i in range(3):
      x = nn.Dense(5)(jnp.concatenate([x, skips.pop()], axis=-1))
    return x
""",
    ),
    "modules of setup that are called with what a loop takes from a list": (
        "NNX114",
        """class M(nn.Module):
  feats: Any = (4, 8)
  def setup(self):
    self.down = [nn.Dense(f) for f in self.feats]
    self.up = [nn.Dense(f) for f in reversed(self.feats)]

  def __call__(self, x):
    skips = []
    for d in self.down:
      x = d(x)
      skips.append(x)
    for u in self.up:
      x = u(jnp.concatenate([x, skips.pop()], -1))
    return x
""",
    ),
    "a layer in a function given to a transform": (
        "NNX134",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return jax.vmap(lambda z: nn.Dense(4)(z))(x)
""",
    ),
    "a layer in a function under a transform's decorator": (
        "NNX134",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    @jax.vmap
    def apply(z):
      return nn.Dense(4)(z)
    return apply(x)
""",
    ),
    "a module that is cloned": (
        "NNX149",
        """class M(nn.Module):
  inner: nn.Module
  @nn.compact
  def __call__(self, x):
    return self.inner.clone(name='a')(x)
""",
    ),
    "an operation class of Linen's own": (
        "NNX203",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.MultiHeadDotProductAttention(num_heads=2, qkv_dot_general_cls=nn.Fp8DotGeneralOp)(x)
""",
    ),
    "a list of modules called in reverse": (
        "NNX114",
        """class M(nn.Module):
  def setup(self):
    self.ls = [nn.Dense(5) for _ in range(3)]

  def __call__(self, x):
    for l in self.ls[::-1]:
      x = l(x)
    return x
""",
    ),
    "a size of setup behind a branch of the call": (
        "NNX110",
        """class M(nn.Module):
  def setup(self):
    self.p = nn.Dense(4)
    self.q = nn.Dense(5)

  def __call__(self, x, use: bool = False):
    if use:
      x = self.p(x)
    return self.q(x)
""",
    ),
    "an item of a list that has another name in Linen": (
        "NNX155",
        """class M(nn.Module):
  def setup(self):
    self.ls = [nn.Dense(4, name='a'), nn.Dense(4, name='b')]

  def __call__(self, x):
    return self.ls[1](self.ls[0](x))
""",
    ),
    "a list of arrays that grows depending on the call": (
        "NNX110",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x, more):
    xs = [x]
    for _ in range(2):
      if more.sum() > 0:
        xs.append(x)
    return nn.Dense(4)(jnp.concatenate(xs, -1))
""",
    ),
    "a list of arrays that is reversed in place": (
        "NNX110",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    xs = []
    for i in range(3):
      xs.append(nn.Dense(i + 1)(x))
    xs.reverse()
    return nn.Dense(4)(xs[0])
""",
    ),
    "self.variables": (
        "NNX164",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    y = nn.Dense(4, name='d')(x)
    return y + self.variables['params']['d']['bias']
""",
    ),
    "a parameter's shape from what the arrays hold": (
        "NNX111",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x, n):
    shape = tuple(int(v) for v in n)
    return x * self.param('p', nn.initializers.ones, shape)
""",
    ),
    "a shape that grows where a flag of the call says so": (
        "NNX111",
        """class M(nn.Module):
  dims: Any = (4,)
  @nn.compact
  def __call__(self, x, wide: bool = False):
    shape = list(self.dims)
    if wide:
      shape.append(2)
    return x * self.param('p', nn.initializers.ones, tuple(shape))
""",
    ),
    "a shape that grows by what the arrays hold": (
        "NNX111",
        """class M(nn.Module):
  dims: Any = (4,)
  @nn.compact
  def __call__(self, x, n):
    shape = list(self.dims)
    shape.append(int(n[0]))
    return x * self.param('p', nn.initializers.ones, tuple(shape))
""",
    ),
    "an initializer that reads the input's values": (
        "NNX111",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    def first(rng, shape):
      return jnp.mean(x, 0).reshape(shape)
    return x * self.param('p', first, x.shape[-1:])
""",
    ),
    "a norm with options that nobody shows": (
        "NNX137",
        """class M(nn.Module):
  options: Any = None
  @nn.compact
  def __call__(self, x):
    return nn.LayerNorm(**self.options)(x)
""",
    ),
    "options that are set where a flag says so, for a layer whose keywords differ": (
        "NNX137",
        """class M(nn.Module):
  fast: bool = False
  @nn.compact
  def __call__(self, x):
    options = dict(epsilon=1e-5)
    if self.fast:
      options['use_bias'] = False
    return nn.LayerNorm(**options)(x)
""",
    ),
    "an option that reads a name bound anew": (
        "NNX137",
        """class M(nn.Module):
  width: int = 4
  @nn.compact
  def __call__(self, x):
    eps = 1e-5
    options = dict(epsilon=eps)
    eps = 1e-3
    return nn.LayerNorm(**options)(x + eps)
""",
    ),
    "a local variable called rngs": (
        "NNX151",
        """class M(nn.Module):
  dims: Any = (4,)
  @nn.compact
  def __call__(self, x):
    rngs = tuple(self.dims)
    return x * self.param('p', nn.initializers.ones, rngs)
""",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_it_stays_linen_and_says_why(what: str) -> None:
    code, body = REFUSED[what]
    text = HEAD + body
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    plan = next((c for c in result.classes if c.code == code), result.classes[0])
    assert plan.outcome == "bridged"
    assert plan.code == code, plan.reason
    assert plan.reason
    after = result.files[0].after
    assert after is not None
    kept = "".join(line for line in after.splitlines(keepends=True) if "TODO(nnx-migrate)" not in line)
    if all(other.outcome == "bridged" for other in result.classes):  # what it does not need may be native
        assert kept == text
    assert f"# TODO(nnx-migrate): {code}" in after


def test_a_parameter_under_an_attribute_that_another_class_reads_keeps_it() -> None:
    text = (
        HEAD
        + """class M(nn.Module):
  def setup(self):
    self.weight = self.param('w', nn.initializers.ones, (3,))
  def __call__(self, x):
    return x * self.weight


class Outer(nn.Module):
  def setup(self):
    self.inner = M()
  def __call__(self, x):
    return self.inner(x) * self.inner.weight
"""
    )
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    plan = {c.qualname: c for c in result.classes}["m.M"]
    assert (plan.outcome, plan.code) == ("bridged", "NNX180"), plan.reason


def test_a_script_that_fills_a_field_with_what_does_not_fit_is_named_and_stops_nothing() -> None:
    body = """class M(nn.Module):
  conv: Any
  @nn.compact
  def __call__(self, x):
    return self.conv(4, (3, 3))(x)


Plain = functools.partial(M, nn.Conv)
Local = functools.partial(M, conv=nn.ConvLocal)
"""
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", HEAD + body)])
    (plan,) = result.classes
    assert plan.outcome == "native", plan.reason
    after = result.files[0].after
    assert after is not None
    assert "Plain = functools.partial(M, nnx.Conv)" in after
    assert "# TODO(nnx-migrate): NNX163" in after
    assert "Local = functools.partial(M, conv=nn.ConvLocal)" in after  # left as it is: a TypeError when it is built
