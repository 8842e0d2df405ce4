"""Stacks of modules that are under nn.remat or not, as a field says; `CASES` as in forms_basic."""

import jax
from flax import linen as nn


class Block(nn.Module):
  f: int = 4
  @nn.compact
  def __call__(self, x, mask):
    x = nn.LayerNorm()(x + nn.Dense(self.f)(x) * mask)
    return x, None


class ScanOfChosen(nn.Module):
  n: int = 3
  remat: bool = False
  @nn.compact
  def __call__(self, x, mask):
    B = Block
    if self.remat: B = nn.remat(B, prevent_cse=False)
    x, _ = nn.scan(B, variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=nn.broadcast, length=self.n)(f=4, name='layers')(x, mask)
    return x


class ScanWithPolicy(nn.Module):
  n: int = 3
  remat: bool = False
  @nn.compact
  def __call__(self, x, mask):
    block = Block
    if self.remat:
      block = nn.remat(block, prevent_cse=False, policy=jax.checkpoint_policies.nothing_saveable)
    x, _ = nn.scan(block, variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=nn.broadcast, length=self.n)(f=4, name='layers')(x, mask)
    return x


class ScanOfEither(nn.Module):
  n: int = 3
  remat: str = 'none'
  @nn.compact
  def __call__(self, x, mask):
    if self.remat == 'none':
      block = Block
    else:
      block = nn.remat(Block, prevent_cse=False)
    x, _ = nn.scan(block, variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=nn.broadcast, length=self.n)(f=4, name='layers')(x, mask)
    return x


class ScanInSetup(nn.Module):
  n: int = 3
  remat: bool = False
  def setup(self):
    block = nn.remat(Block, prevent_cse=False) if self.remat else Block
    self.layers = nn.scan(block, variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=nn.broadcast, length=self.n)()
  def __call__(self, x, mask):
    return self.layers(x, mask)[0]


class VmapOfChosen(nn.Module):
  n: int = 3
  remat: bool = False
  @nn.compact
  def __call__(self, x, mask):
    block = nn.remat(Block, static_argnums=(2,)) if self.remat else Block
    V = nn.vmap(block, variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=None, axis_size=self.n)
    return V(f=4, name='ls')(x, mask)[0]


class SeveralKinds(nn.Module):
  """Two names for classes, one after the other, which setup lifts or not."""
  remat: bool = False

  def setup(self):
    """Names for the classes come first."""
    second = Block
    first = Block

    if self.remat:
      second = nn.remat(second)
      first = nn.remat(first)
    self.a = first()
    self.b = second()

  def __call__(self, x, y):
    x, _ = self.a(x, y)
    return self.b(x, y)


CASES = [
  ('SeveralKinds', {}, [(2, 4), (2, 4)], {}),
  ('SeveralKinds', {'remat': True}, [(2, 4), (2, 4)], {}),
  ('ScanOfChosen', {}, [(2, 4), (2, 4)], {}),
  ('ScanOfChosen', {'remat': True}, [(2, 4), (2, 4)], {}),
  ('ScanWithPolicy', {'remat': True}, [(2, 4), (2, 4)], {}),
  ('ScanOfEither', {}, [(2, 4), (2, 4)], {}),
  ('ScanOfEither', {'remat': 'full'}, [(2, 4), (2, 4)], {}),
  ('ScanInSetup', {}, [(2, 4), (2, 4)], {}),
  ('ScanInSetup', {'remat': True}, [(2, 4), (2, 4)], {}),
  ('VmapOfChosen', {'remat': True}, [(2, 4), (2, 4)], {}),
]
