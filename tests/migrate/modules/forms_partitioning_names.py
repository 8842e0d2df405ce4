"""Names that `flax.linen.partitioning`'s transforms put before those of classes; `CASES` as in forms_basic."""

import functools

from flax import linen as nn
from flax.linen import partitioning
from flax.linen import partitioning as nn_partitioning
from flax.linen.partitioning import remat


class Block(nn.Module):
  @nn.compact
  def __call__(self, x, _=None):
    return nn.Dense(4)(x), None


class Rematted(nn.Module):
  @nn.compact
  def __call__(self, x):
    x, _ = remat(Block)()(x)
    make = functools.partial(nn_partitioning.remat, prevent_cse=False)
    x, _ = make(Block)()(x)
    return nn.remat(Block)()(x)[0]


class Scanned(nn.Module):
  @nn.compact
  def __call__(self, x):
    x, _ = partitioning.scan_with_axes(Block, variable_axes={"params": 0}, split_rngs={"params": True}, length=2)()(x, None)
    x, _ = partitioning.scan_with_axes(Block, variable_axes={}, variable_broadcast="params", split_rngs={"params": False}, length=2)()(x, None)
    inner = remat(Block, prevent_cse=False)
    x, _ = partitioning.scan_with_axes(inner, variable_axes={"params": 0}, split_rngs={"params": True}, length=2)()(x, None)
    x, _ = nn.scan(inner, variable_axes={"params": 0}, split_rngs={"params": True}, length=2)()(x, None)
    return x


class Mapped(nn.Module):
  @nn.compact
  def __call__(self, x):
    with_names = partitioning.vmap_with_axes(Block, variable_axes={"params": 0}, split_rngs={"params": True}, in_axes=(0, None), partitioning_axis_names={"params": "members"})
    without = partitioning.vmap_with_axes(Block, variable_axes={"params": 0}, split_rngs={"params": True}, in_axes=(0, None), partitioning_axis_names={})
    return without()(with_names()(x, None)[0], None)[0]


class Either(nn.Module):
  rematted: bool = False
  @nn.compact
  def __call__(self, x):
    block = Block
    if self.rematted:
      block = remat(Block)
    for _ in range(2):
      x, _ = block()(x)
    return x

CASES = [
    ("Rematted", {}, [(3, 4)], {}),
    ("Scanned", {}, [(3, 4)], {}),
    ("Mapped", {}, [(3, 2, 4)], {}),
    ("Either", {"rematted": True}, [(3, 4)], {}),
    ("Either", {}, [(3, 4)], {}),
]
