"""Initializers that a module makes from its sizes, dtypes that a function picks, and names of which one way only raises."""

from flax import linen as nn
import jax.numpy as jnp
import functools
from typing import Any, Optional
class M(nn.Module):
  features: int = 8
  dtype: object = jnp.float32
  kernel_init: object = nn.initializers.lecun_normal()
  scale: bool = True
  @nn.compact
  def __call__(self, x):
    depth_scaling = jnp.sqrt(self.features).astype(self.dtype)
    if self.scale:
      query_init = lambda *args: self.kernel_init(*args) / depth_scaling
    else:
      query_init = self.kernel_init
    return nn.Dense(self.features, kernel_init=query_init)(x)
class N(nn.Module):
  features: int = 8
  dtype: object = jnp.float32
  kernel_init: object = nn.initializers.lecun_normal()
  @nn.compact
  def __call__(self, x):
    features = self.features or x.shape[-1]
    head_dim = features // 2
    depth_scaling = jnp.sqrt(head_dim).astype(self.dtype)
    query_init = lambda *args: self.kernel_init(*args) / depth_scaling
    def key_init(key, shape, dtype=jnp.float32):
      return self.kernel_init(key, shape, dtype) / depth_scaling
    x= nn.Dense(features, kernel_init=query_init)(x)
    return nn.Dense(features, kernel_init=key_init)(x)
class P(nn.Module):
  features: int = 8
  kernel_init: object = nn.initializers.lecun_normal()
  split: object = None
  scale: bool = True
  @nn.compact
  def __call__(self, x):
    depth_scaling = jnp.sqrt(self.features)
    if self.split:
      def query_init(*args): return self.kernel_init(*args) * 2
    elif self.scale:
      query_init = lambda *args: self.kernel_init(*args) / depth_scaling
    else:
      query_init = self.kernel_init
    kernel_init = self.kernel_init
    dense = functools.partial(nn.Dense, self.features)
    k = dense(kernel_init=kernel_init, name='k')(x)
    if self.scale:
      return dense(kernel_init=query_init, name='q')(x) + k
    return k
class Q(nn.Module):
  features: int = 8
  kernel_init: object = nn.initializers.lecun_normal()
  rescale: bool = False
  def setup(self):
    self.act = nn.relu
  @nn.compact
  def __call__(self, x, y):
    depth_scaling = jnp.sqrt(y.shape[-1]).astype(jnp.float32)
    query_init = lambda *args: (self.kernel_init(*args) /
          (depth_scaling if self.rescale else 1.0))
    proj = functools.partial(nn.DenseGeneral, axis=-1, features=(2, 3))
    return proj(kernel_init=query_init, name='q')(x), proj(name='k')(y)
class Folded(nn.Module):
  num_heads: int = 2
  qkv_features: Optional[int] = None
  head_dim: Optional[int] = None
  kernel_init: Any = nn.initializers.lecun_normal()
  q_kernel_init: Any = None
  rescale_logits: bool = False
  fuse: Optional[str] = None
  dtype: Any = jnp.float32
  @nn.compact
  def __call__(self, x):
    q_kernel_init = (
        self.q_kernel_init
        if self.q_kernel_init is not None
        else self.kernel_init
    )
    qkv_features = self.qkv_features or x.shape[-1]
    if self.head_dim is None:
      head_dim = qkv_features // self.num_heads
    else:
      head_dim = self.head_dim
    if self.rescale_logits:
      query_init = q_kernel_init
    else:
      if self.fuse:
        raise ValueError('no')
      depth_scaling = jnp.sqrt(head_dim).astype(self.dtype)
      query_init = lambda *args: q_kernel_init(*args) / depth_scaling
    return nn.DenseGeneral((self.num_heads, head_dim), kernel_init=query_init)(x)
def dtype_from_str(dtype_string):
  """Docs."""
  if dtype_string == 'float32':
    return jnp.float32
  elif dtype_string == 'bf16':
    return jnp.bfloat16
  else:
    raise ValueError(dtype_string)
def other(kind):
  return {'a': jnp.float32, 'b': jnp.bfloat16}[kind]
class ByBranches(nn.Module):
  kind: str = 'float32'
  @nn.compact
  def __call__(self, x):
    dtype = dtype_from_str(self.kind)
    return nn.Dense(3, dtype=dtype)(x)
class ByTable(nn.Module):
  kind: str = 'a'
  @nn.compact
  def __call__(self, x):
    dtype = other(self.kind)
    return nn.Dense(3, dtype=dtype)(x)

GAIN = {'a': lambda n: 2.0 * n, 'b': lambda n: 3.0 * n}
def init_of(std, gain):
  return nn.initializers.normal(std * gain)
class Gained(nn.Module):
  deep: bool = False
  sub: bool = False
  n: int = 2
  @nn.compact
  def __call__(self, x):
    if self.deep:
      gain = GAIN['a'](self.n)
    elif self.sub:
      gain = GAIN['b'](self.n)
    return nn.Dense(4, kernel_init=init_of(0.1, gain) if (self.deep or self.sub) else nn.initializers.normal(0.1))(x)
class Widened(nn.Module):
  deep: bool = False
  n: int = 2
  @nn.compact
  def __call__(self, x):
    if self.deep:
      width = 2 * self.n
      x = nn.Dense(width)(x)
    if self.deep:
      x = nn.Dense(width + 1)(x)
    return x

CASES=[("M",{},[(2,3)],{}),("M",{"scale":False},[(2,3)],{}),("N",{},[(2,3)],{}),("P",{},[(2,3)],{}),("P",{"scale":False},[(2,3)],{}),("P",{"split":1},[(2,3)],{}),("Q",{},[(2,3),(2,3)],{})]
CASES += [("Folded", k, [(2, 4)], {}) for k in ({}, {"rescale_logits": True}, {"head_dim": 3})]
CASES += [(n, {"kind": k}, [(2, 3)], {}) for n, k in (("ByBranches", "float32"), ("ByBranches", "bf16"), ("ByTable", "b"))]
CASES += [("Gained", k, [(2, 3)], {}) for k in ({}, {"deep": True}, {"sub": True})]
CASES += [("Widened", {"deep": d}, [(2, 3)], {}) for d in (False, True)]
