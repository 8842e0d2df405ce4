"""Stacks of one of several classes, as fields say, and methods that lift the class that they are given; `CASES` as in forms_basic."""

import dataclasses
import functools
from typing import Any

import flax.linen as nn
import jax


class Wide(nn.Module):
  width: int

  @nn.compact
  def __call__(self, x, mask, train=False):
    h = nn.Dense(2 * self.width, use_bias=False)(x)
    h = nn.Dropout(0.1)(nn.relu(h), deterministic=not train)
    return x + nn.Dense(self.width)(h) * mask[..., None], None


class Normed(nn.Module):
  width: int
  epsilon: float = 1e-5

  @nn.compact
  def __call__(self, x, mask, train=False):
    return x + nn.Dense(self.width)(nn.LayerNorm(epsilon=self.epsilon)(x)), None


class Counted(nn.Module):
  width: int

  @nn.compact
  def __call__(self, x, mask, train=False):
    return x + nn.Dense(self.width)(nn.BatchNorm(use_running_average=False)(x)), None


ALL = (nn.broadcast,) * 2


class Plain(nn.Module):
  """The call is one text for both; one of them has statistics."""

  wide: bool = True

  @nn.compact
  def __call__(self, x, mask):
    block = Wide if self.wide else Counted
    axes = {'params': 0, 'batch_stats': 0}
    layers = nn.scan(block, variable_axes=axes, split_rngs={'params': True, 'dropout': True}, in_axes=ALL, length=2)
    x, _ = layers(8, name='layers')(x, mask, False)
    return nn.Dense(2)(x)


class Unnamed(nn.Module):
  wide: bool = True

  @nn.compact
  def __call__(self, x, mask):
    block = Wide if self.wide else functools.partial(Normed, epsilon=1e-2)
    x, _ = nn.vmap(block, variable_axes={'params': 0}, split_rngs={'params': True, 'dropout': True}, in_axes=None, axis_size=3)(8)(
      x, mask
    )
    return nn.Dense(2)(x)


class UnderRemat(nn.Module):
  """Whether it is under nn.remat decides what Linen calls a stack, and which it counts."""

  wide: bool = True

  @nn.compact
  def __call__(self, x, mask):
    block = nn.remat(Normed, prevent_cse=False) if self.wide else Normed
    x, _ = nn.scan(block, {'params': 0}, split_rngs={'params': True}, in_axes=nn.broadcast, length=2)(8)(x, mask)
    x, _ = nn.scan(Normed, {'params': 0}, split_rngs={'params': True}, in_axes=nn.broadcast, length=2)(8)(x, mask)
    return nn.Dense(2)(x)


class Twice(nn.Module):
  """Two calls in one statement, under nn.remat, which names the class."""

  wide: bool = True

  @nn.compact
  def __call__(self, x, mask):
    block = nn.remat(Wide if self.wide else Normed, static_argnums=(3,))
    scan = nn.scan(block, variable_axes={'params': 0}, split_rngs={'params': True, 'dropout': True}, in_axes=ALL, length=2)
    layers = scan(8, name='layers')
    (x, _), (y, _) = layers(x, mask, False), layers(2 * x, mask, False)
    return nn.Dense(2)(x + y)


class OfSetup(nn.Module):
  """Stacks of unlike counts."""

  wide: bool = True

  def setup(self):
    if self.wide:
      block = nn.vmap(Wide, variable_axes={'params': 0}, split_rngs={'params': True, 'dropout': True}, in_axes=None, axis_size=3)
    else:
      block = nn.vmap(Normed, variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=None, axis_size=2)
    self.members = block(8)

  def __call__(self, x, mask):
    return self.members(x, mask)


class Scale(nn.Module):
  @nn.compact
  def __call__(self, x):
    return x * self.param('scale', nn.initializers.ones, (x.shape[-1],))


@dataclasses.dataclass
class Config:
  kind: str = 'wide'
  policy: str = 'none'
  scan: bool = True
  depth: int = 2
  width: int = 8


class Decoder(nn.Module):
  """A decoder that is configured in every respect."""

  config: Any
  mesh: Any = None

  def get_layer(self):
    if self.config.kind == 'wide':
      return Wide
    elif self.config.kind == 'normed':
      return Normed
    else:
      raise ValueError(f'no layer {self.config.kind}')

  def scan_layers(self, cfg, layer, length, axis_name):
    initializing = self.is_mutable_collection('params')
    axis = 0 if initializing else 0
    scanned = nn.scan(
      layer,
      variable_axes={'params': 0, 'cache': axis},
      split_rngs={'params': True, 'dropout': True},
      in_axes=(nn.broadcast, nn.broadcast),
      length=length,
      metadata_params={nn.PARTITION_NAME: axis_name},
    )
    return scanned(width=cfg.width, name=axis_name)

  @nn.compact
  def __call__(self, x, mask, train=False):
    cfg = self.config
    Layer = self.get_layer()
    if cfg.policy != 'none':
      if cfg.policy == 'minimal':
        policy = jax.checkpoint_policies.checkpoint_dots_with_no_batch_dims
      else:
        assert cfg.policy == 'full'
        policy = None
    else:
      policy = None
    Rematted = nn.remat(Layer, prevent_cse=not cfg.scan, policy=policy, static_argnums=(3,))
    if cfg.scan:
      x, _ = self.scan_layers(cfg, Rematted, cfg.depth, 'layers')(x, mask, train)
      x, _ = self.scan_layers(cfg, Layer, 1, 'last')(x, mask, train)
    else:
      for i in range(cfg.depth):
        x, _ = Rematted(width=cfg.width, name=f'layers_{i}')(x, mask, train)
    norm = nn.LayerNorm if cfg.kind == 'wide' else Scale
    if cfg.policy == 'none':
      out = nn.Dense
    elif cfg.policy == 'full':
      out = functools.partial(nn.DenseGeneral, axis=-1)
    else:
      out = functools.partial(nn.Dense, use_bias=False)
    return out(2)(norm(name='norm')(x))


class ByFormerWidth(nn.Module):
  """By the width that the input had before a layer changed it, under a name that stays what it was."""

  @nn.compact
  def __call__(self, x, mask):
    width = x.shape[-1]
    block = Wide if width > 4 else Counted
    x = nn.Dense(8)(x)
    axes = {'params': 0, 'batch_stats': 0}
    layers = nn.scan(block, variable_axes=axes, split_rngs={'params': True, 'dropout': True}, in_axes=ALL, length=2)
    return layers(8, name='layers')(x, mask, False)[0]


SHAPES = [(2, 3, 8), (2, 3)]
CONFIGS = [Config(), Config('normed', 'minimal'), Config(scan=False, policy='full'), Config('normed', scan=False)]
CASES = [
  *[(name, {'wide': wide}, SHAPES, {}) for name in ('Plain', 'Unnamed', 'UnderRemat', 'Twice', 'OfSetup') for wide in (True, False)],
  *[('ByFormerWidth', {}, [(2, 3, width), (2, 3)], {}) for width in (3, 8)],
  *[('Decoder', {'config': config}, SHAPES, {}) for config in CONFIGS],
]
