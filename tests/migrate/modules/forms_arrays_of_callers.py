"""Arrays in fields of modules that are made anew at each call, and of what these make: `Block(mask=mask)(x)`; `CASES` as in
forms_basic."""

import functools
from typing import Any, Callable, Optional, Sequence
import jax
import jax.numpy as jnp
from flax import linen as nn


class MLPBlock(nn.Module):
  width: int
  train: bool

  @nn.compact
  def __call__(self, x):
    features = x.shape[-1]  # goes with what it was for
    x = nn.gelu(nn.Dense(self.width)(x))
    x = nn.Dense(features)(x)
    return x if self.train else x * 2


class Attention(nn.Module):
  mask: jax.Array | None
  train: bool

  @nn.compact
  def __call__(self, x):
    y = nn.Dense(x.shape[-1])(x)
    if self.mask is not None:
      y = jnp.where(self.mask, y, 0)
    return nn.Dropout(0.0, deterministic=not self.train)(y)


class Block(nn.Module):
  width: int
  remat: Sequence[str]
  mask: jax.Array | None
  train: bool

  @nn.compact
  def __call__(self, x):
    mlp = MLPBlock
    if 'mlp' in self.remat:
      mlp = nn.remat(mlp, prevent_cse=False)
    x = x + mlp(width=self.width, train=self.train, name='mlp')(x)
    attention = Attention
    if 'attention' in self.remat:
      attention = nn.remat(attention, prevent_cse=False)
    return x + attention(mask=self.mask, train=self.train, name='attention')(x)


class Transformer(nn.Module):
  width: int = 8
  depth: int = 2
  causal: bool = False
  remat: Sequence[str] = ()
  scanned: bool = True

  @nn.compact
  def __call__(self, x, mask: jax.Array | None = None, train: bool = True):
    if mask is None and self.causal:
      mask = jnp.arange(x.shape[1])[:, None] > 2
    block = functools.partial(Block, width=self.width, remat=self.remat, mask=mask, train=train)
    if 'block' in self.remat:
      block = nn.remat(block, prevent_cse=False)
    if self.scanned:
      made = block(name='block')
      x, _ = nn.scan(
        lambda module, x, _: (module(x), None),
        variable_axes={'params': 0},
        split_rngs={'params': True, 'dropout': True},
        length=self.depth,
      )(made, x, ())
    else:
      for i in range(self.depth):
        x = block(name=f'block_{i}')(x)
    return nn.Dense(3)(x)


class Scaled(nn.Module):
  """What is given may be nothing where the default is something."""

  factor: Any = 2.0

  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(x) * (5.0 if self.factor is None else self.factor)


class Mixed(nn.Module):
  """Given, given otherwise, and not given."""

  @nn.compact
  def __call__(self, x, factor: Optional[jax.Array] = None):
    return Scaled(factor=factor)(x) + Scaled(jnp.mean(x))(x) + Scaled()(x) + Scaled(3.0)(x) + Scaled(factor)(x * 2)


class Rebound(nn.Module):
  """The call cannot say it: it is lent."""

  @nn.compact
  def __call__(self, x):
    scaled = Shifted(x)
    x = x + 1
    return scaled(x)


class Shifted(nn.Module):
  shift: jax.Array

  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(x) + self.shift[..., :1]


class Kept(nn.Module):
  """What is made of it at the call follows it."""

  start: "jax.Array"

  @nn.compact
  def __call__(self, x):
    y = nn.Dense(3)(x)
    return (lambda z: z + self.start)(y)


class Lifted(nn.Module):
  @nn.compact
  def __call__(self, x):
    start = x.mean()
    mapped = nn.vmap(Kept, in_axes=0, variable_axes={'params': None}, split_rngs={'params': False})
    return mapped(start)(x) + nn.remat(Kept)(start=start)(x)


class Unread(nn.Module):
  """A flag that nothing reads."""

  train: bool
  width: int = 3

  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.width)(x)


class Layers(nn.Module):
  train: bool
  kind: Callable[..., nn.Module] = Unread

  @nn.compact
  def __call__(self, x):
    return self.kind(train=self.train)(x)


class Flagged(nn.Module):
  train: bool = False

  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(x) * (2 if self.train else 1)


class OfKind(nn.Module):
  """A flag of what a field makes, where that is of one class."""

  train: bool = False
  kind: Callable[..., nn.Module] = Flagged

  @nn.compact
  def __call__(self, x):
    return self.kind(train=self.train)(x)


class GivesFlags(nn.Module):
  @nn.compact
  def __call__(self, x, train: bool = True):
    return Layers(train=train)(x) + OfKind(train=train)(x)


CASES: list[Any] = [
  ('Transformer', dict(), [(2, 5, 4)], dict()),
  ('Transformer', dict(causal=True, remat=('mlp', 'attention')), [(2, 5, 4)], dict(train=False)),
  ('Transformer', dict(causal=True, remat=('block',), scanned=False), [(2, 5, 4)], dict()),
  ('Attention', dict(mask=jnp.ones((5, 1), bool), train=True), [(2, 5, 4)], dict()),
  ('Mixed', dict(), [(2, 5, 4)], dict()),
  ('Mixed', dict(), [(2, 5, 4)], dict(factor=0.5)),
  ('Scaled', dict(factor=0.5), [(2, 4)], dict()),
  ('Rebound', dict(), [(2, 5, 4)], dict()),
  ('Lifted', dict(), [(2, 5, 4)], dict()),
  ('GivesFlags', dict(), [(2, 4)], dict()),
  ('GivesFlags', dict(), [(2, 4)], dict(train=False)),
]
