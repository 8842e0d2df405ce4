"""Norms that a module or a function picks by a name, handed to blocks and made in the module itself."""

import functools
from typing import Any, Callable, Sequence
from flax import linen as nn
import jax.numpy as jnp
def get_norm_layer(train, dtype, norm_type="BN"):
    """Normalization layer."""
    if norm_type == "BN":
        norm_fn = functools.partial(
            nn.BatchNorm,
            use_running_average=not train,
            momentum=0.9,
            epsilon=1e-5,
            dtype=jnp.float32,
        )
    elif norm_type == "LN":
        norm_fn = functools.partial(nn.LayerNorm, dtype=dtype)
    elif norm_type == "GN":
        norm_fn = functools.partial(nn.GroupNorm, num_groups=1, dtype=dtype)
    else:
        raise NotImplementedError
    return norm_fn
class OtherBlock(nn.Module):
  filters: int
  norm_fn: Any
  @nn.compact
  def __call__(self, x):
    y = self.norm_fn()(x)
    y = nn.Conv(self.filters, (3, 3))(y)
    return y + nn.Conv(self.filters, (1, 1))(self.norm_fn()(x))
class OfFunction(nn.Module):
  filters: int = 4
  norm: str = 'BN'
  train: bool = False
  dtype: Any = jnp.float32
  @nn.compact
  def __call__(self, x):
    norm = get_norm_layer(train=self.train, dtype=self.dtype, norm_type=self.norm)
    block_args = dict(norm_fn=norm)
    x = nn.Conv(self.filters, (3, 3), name='init')(x)
    for i in range(2):
      x = OtherBlock(self.filters, **block_args)(x)
    return norm()(x)
class OfCall(nn.Module):
  filters: int = 4
  norm: str = 'BN'
  dtype: Any = jnp.float32
  @nn.compact
  def __call__(self, x, training=True):
    norm = get_norm_layer(train=training, dtype=self.dtype, norm_type=self.norm)
    x = nn.Conv(self.filters, (3, 3), name='init')(x)
    x = OtherBlock(self.filters, norm_fn=norm)(x)
    return norm()(x)
class Block(nn.Module):
  filters: int
  norm: Any
  act: Callable
  strides: tuple = (1, 1)
  @nn.compact
  def __call__(self, x):
    residual = x
    y = nn.Conv(self.filters, (3, 3), self.strides)(x)
    y = self.norm()(y)
    y = self.act(y)
    y = self.norm(name='second')(y)
    if residual.shape != y.shape:
      residual = nn.Conv(self.filters, (1, 1), self.strides, name='conv_proj')(residual)
      residual = self.norm(name='norm_proj')(residual)
    return self.act(residual + y)
class Net(nn.Module):
  filters: int = 4
  norm: str = 'batch'
  @nn.compact
  def __call__(self, x, train: bool = False):
    if self.norm == 'batch':
      norm = functools.partial(nn.BatchNorm, use_running_average=not train, momentum=0.9)
    elif self.norm == 'group':
      norm = functools.partial(nn.GroupNorm, num_groups=2, epsilon=1e-5)
    elif self.norm == 'layer':
      norm = nn.LayerNorm
    else:
      raise ValueError(self.norm)
    x = nn.Conv(self.filters, (3, 3), name='init')(x)
    x = norm(name='norm_init')(x)
    for i in range(2):
      x = Block(self.filters * 2**i, norm=norm, act=nn.relu, strides=(2, 2) if i > 0 else (1, 1))(x)
    return x.mean((1, 2))
class ByField(nn.Module):
  filters: int = 4
  norm: str = 'BN'
  train: bool = False
  dtype: Any = jnp.float32
  @nn.compact
  def __call__(self, x):
    norm = get_norm_layer(train=self.train, dtype=self.dtype, norm_type=self.norm)
    x = nn.Conv(self.filters, (3, 3), name='init')(x)
    return norm()(x)
class ByFlag(nn.Module):
  filters: int = 4
  norm: str = 'BN'
  dtype: Any = jnp.float32
  @nn.compact
  def __call__(self, x, train=True):
    norm = get_norm_layer(train=train, dtype=self.dtype, norm_type=self.norm)
    x = nn.Conv(self.filters, (3, 3), name='init')(x)
    return norm()(x)
CASES = [(m, {"norm": n}, [(2, 6, 6, 3)], {}) for n in ("BN", "LN", "GN") for m in ("OfFunction", "OfCall", "ByField", "ByFlag")]
CASES += [("OfCall", {"norm": n}, [(2, 6, 6, 3)], {"training": False}) for n in ("BN", "LN")]
CASES += [("Net", {"norm": n}, [(2, 6, 6, 3)], {"train": t}) for n in ("batch", "group", "layer") for t in (False, True)]
