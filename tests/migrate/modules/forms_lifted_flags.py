"""Flags that a caller knows only when it calls, given to classes under lifted transforms; `CASES` as in forms_basic."""
import functools
from typing import Any, Callable, Optional

import flax.linen as nn
import jax.numpy as jnp
from flax.linen import partitioning as nn_partitioning


class Drop(nn.Module):
  features: int
  rate: float = 0.5
  deterministic: bool = True
  @nn.compact
  def __call__(self, x):
    y = nn.Dropout(self.rate, deterministic=self.deterministic)(nn.Dense(self.features)(x))
    return x + y if self.deterministic else x + 2 * y

class Step(nn.Module):
  features: int
  train: bool
  rate: float = 0.5
  @nn.compact
  def __call__(self, x, mask):
    y = nn.Dense(self.features)(x)
    y = nn.BatchNorm(use_running_average=not self.train)(y)
    return x + (y if mask is None else y * mask), None

class Merged(nn.Module):
  features: int
  deterministic: Optional[bool] = None
  @nn.compact
  def __call__(self, x, scale=None, deterministic: Optional[bool] = None):
    deterministic = nn.merge_param("deterministic", self.deterministic, deterministic)
    y = nn.Dense(self.features)(x)
    y = y * 3 if deterministic else y
    return x + (y if scale is None else y * scale)

class Normed(nn.Module):
  features: int
  norm: Callable = nn.LayerNorm
  @nn.compact
  def __call__(self, x, scale=1.0):
    return x + self.norm()(nn.Dense(self.features)(x)) * scale

class Named(nn.Module):
  """Takes arguments by name alone."""
  features: int
  @nn.compact
  def __call__(self, x, *, double: bool = False, mask=None):
    y = nn.Dense(self.features)(x)
    y = y if mask is None else y * mask
    return y * 2 if double else y

class Plain(nn.Module):
  """Beside the others, what is not lifted."""
  @nn.compact
  def __call__(self, x, deterministic: bool = True):
    x = Drop(x.shape[-1], 0.0, deterministic=deterministic)(x)
    return nn.remat(Drop)(x.shape[-1], 0.0, deterministic)(x)

class Remat(nn.Module):
  depth: int = 2
  @nn.compact
  def __call__(self, x, deterministic: bool = True):
    for i in range(self.depth):
      x = nn.remat(Drop)(x.shape[-1], 0.0, deterministic=deterministic, name=f"block_{i}")(x)
    return x

class RematByField(nn.Module):
  remat: bool = False
  @nn.compact
  def __call__(self, x, train: bool = False):
    block_cls = nn.remat(Drop, prevent_cse=False) if self.remat else Drop
    for i in range(2):
      x = block_cls(6, 0.0, deterministic=not train, name=f"block_{i}")(x)
    return x

class RematStatic(nn.Module):
  """Static arguments, which are counted as before."""
  @nn.compact
  def __call__(self, x, y, deterministic: bool = True):
    return nn.remat(Merged, static_argnums=(2,))(6, deterministic=deterministic)(x, None) + nn.remat(Merged)(6, deterministic)(x, y)

class RematKeywords(nn.Module):
  @nn.compact
  def __call__(self, x, y, deterministic: bool = True):
    return nn.remat(Merged)(6, deterministic=deterministic)(x, scale=y)

class RematNames(nn.Module):
  """A parameter of the lifted function is called as the flag is."""
  @nn.compact
  def __call__(self, y, x: bool = True):
    return nn.remat(Drop)(6, 0.0, deterministic=x)(y)

class RematNorms(nn.Module):
  """The flag of a factory in a field."""
  @nn.compact
  def __call__(self, x, train: bool = False):
    norm = functools.partial(nn.BatchNorm, use_running_average=not train)
    x = nn.remat(Normed)(6, norm=norm)(x)
    return nn.remat(Normed)(6, norm)(x, 2.0)

class RematNamed(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.remat(Named)(6)(x) + nn.checkpoint(Named)(6)(x, mask=x)

class RematHelper(nn.Module):
  def _block(self, x, train):
    return nn.remat(Drop)(6, 0.0, deterministic=not train)(x)
  @nn.compact
  def __call__(self, x, train: bool = False):
    return self._block(self._block(x, train), train)

class RematOfSetup(nn.Module):
  """Of setup, with a constant: the class has the flag at its call for the others."""
  def setup(self):
    self.block = nn.remat(Drop)(6, 0.0, deterministic=False)
    self.again = nn_partitioning.remat(Drop, prevent_cse=False)(6, 0.0)
  def __call__(self, x):
    return self.again(self.block(x))

class EitherOfSetup(nn.Module):
  remat: bool = False
  def setup(self):
    if self.remat:
      self.block = nn.remat(Drop)(6, 0.0, deterministic=False)
    else:
      self.block = Drop(6, 0.0, deterministic=False)
  def __call__(self, x):
    return self.block(x)

class Scan(nn.Module):
  @nn.compact
  def __call__(self, x, train: bool = False):
    blocks = nn.scan(Step, variable_axes={"params": 0, "batch_stats": 0}, split_rngs={"params": True}, in_axes=nn.broadcast, length=3)
    x, _ = blocks(6, train=train)(x, None)
    return x

class ScanNames(nn.Module):
  """What is handed to every step is called as the carry is."""
  @nn.compact
  def __call__(self, mask, x, module: bool = False):
    blocks = nn.scan(Step, variable_axes={"params": 0, "batch_stats": 0}, split_rngs={"params": True}, in_axes=nn.broadcast, length=3)
    mask, _ = blocks(6, train=module)(mask, x)
    return mask

class ScanRemat(nn.Module):
  @nn.compact
  def __call__(self, x, train: bool = False):
    block = nn.remat(Step, prevent_cse=False)
    blocks = nn.scan(block, variable_axes={"params": 0, "batch_stats": 0}, split_rngs={"params": True}, in_axes=nn.broadcast, length=2)
    x, _ = blocks(6, train=train, name="blocks")(x, x)
    return x

class ScanOrLoop(nn.Module):
  scan: bool = False
  @nn.compact
  def __call__(self, x, train: bool = False):
    if self.scan:
      x, _ = nn.scan(Step, variable_axes={"params": 0, "batch_stats": 0}, split_rngs={"params": True}, in_axes=nn.broadcast, length=2)(6, train=train, name="layers")(x, None)
    else:
      for i in range(2):
        x, _ = Step(6, train=train, name=f"layer_{i}")(x, None)
    return x

class Members(nn.Module):
  @nn.compact
  def __call__(self, x, deterministic: bool = True):
    members = nn.vmap(Drop, variable_axes={"params": 0}, split_rngs={"params": True, "dropout": True}, in_axes=None, out_axes=0, axis_size=3)
    return members(6, 0.0, deterministic=deterministic)(x)

class MembersOfMerged(nn.Module):
  @nn.compact
  def __call__(self, x, deterministic: bool = True):
    members = nn.vmap(Merged, variable_axes={"params": 0}, split_rngs={"params": True}, in_axes=(None, 0), out_axes=0, axis_size=2)
    return members(6, deterministic=deterministic)(x, jnp.stack([x, 2 * x]))

class NamesOfMembers(nn.Module):
  """The array that all members see is called as the one that each has its part of."""
  @nn.compact
  def __call__(self, scale, x):
    members = nn.vmap(Merged, variable_axes={"params": 0}, split_rngs={"params": True}, in_axes=(None, 0), out_axes=0)
    return members(6, True)(scale, jnp.stack([scale, x]))

CASES = [
  *[(name, {}, [(2, 6)], {flag: value})
    for name, flag in [("Plain", "deterministic"), ("Remat", "deterministic"), ("RematByField", "train"), ("RematNames", "x"),
                       ("RematNorms", "train"), ("RematHelper", "train"), ("Scan", "train"), ("ScanRemat", "train"),
                       ("ScanOrLoop", "train"), ("Members", "deterministic"), ("MembersOfMerged", "deterministic")]
    for value in (False, True)],
  ("RematByField", {"remat": True}, [(2, 6)], {"train": True}),
  ("RematStatic", {}, [(2, 6), (2, 6)], {"deterministic": True}),
  ("RematStatic", {}, [(2, 6), (2, 6)], {"deterministic": False}),
  ("RematKeywords", {}, [(2, 6), (2, 6)], {"deterministic": True}),
  ("RematKeywords", {}, [(2, 6), (2, 6)], {"deterministic": False}),
  ("RematNamed", {}, [(2, 6)], {}),
  ("RematOfSetup", {}, [(2, 6)], {}),
  ("EitherOfSetup", {}, [(2, 6)], {}),
  ("EitherOfSetup", {"remat": True}, [(2, 6)], {}),
  ("ScanNames", {}, [(2, 6), (2, 6)], {"module": True}),
  ("ScanNames", {}, [(2, 6), (2, 6)], {"module": False}),
  ("ScanOrLoop", {"scan": True}, [(2, 6)], {"train": True}),
  ("NamesOfMembers", {}, [(2, 6), (2, 6)], {}),
]
