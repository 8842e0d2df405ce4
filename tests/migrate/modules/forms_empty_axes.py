"""Parameters with no names for their dimensions, `kernel_axes=()`, in stacks whose axis has one; `CASES` as in forms_basic."""

from typing import Tuple

from flax import linen as nn


class Block(nn.Module):
  kernel_axes: Tuple[str, ...] = ()
  @nn.compact
  def __call__(self, x, _=None):
    init = nn.with_logical_partitioning(nn.initializers.normal(), self.kernel_axes)
    x = nn.Dense(4, kernel_init=init, use_bias=False)(x)
    w = self.param("w", nn.with_logical_partitioning(nn.initializers.normal(), ()), (4,))
    return x * w, None


class Stack(nn.Module):
  kernel_axes: Tuple[str, ...] = ()
  @nn.compact
  def __call__(self, x):
    make = nn.scan(Block, variable_axes={"params": 0}, split_rngs={"params": True}, length=2, metadata_params={nn.PARTITION_NAME: "layers"})
    return make(self.kernel_axes)(x, None)[0]


class Last(nn.Module):
  @nn.compact
  def __call__(self, x):
    make = nn.scan(Block, variable_axes={"params": 1}, split_rngs={"params": True}, length=2, metadata_params={nn.PARTITION_NAME: "layers"})
    return make()(x, None)[0]

CASES = [
    ("Stack", {}, [(2, 4)], {}),
    ("Last", {}, [(2, 4)], {}),
    ("Stack", {"kernel_axes": ("embed", "mlp")}, [(2, 4)], {}),
    ("Block", {}, [(2, 4)], {}),
]
