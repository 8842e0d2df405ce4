"""Lists of arrays that grow and shrink in loops, as in U-Nets; `CASES` as in forms_basic."""

import functools
from collections.abc import Callable, Sequence
from typing import Any, Dict, Optional

import jax
import jax.numpy as jnp
from flax import linen as nn
from flax.linen import partitioning as nn_partitioning


class UnetComp(nn.Module):
  feats: Sequence[int]
  @nn.compact
  def __call__(self, x):
    hs = []
    h = nn.Conv(4, (3, 3))(x)
    hs.append(h)
    for i, f in enumerate(self.feats):
      h = nn.relu(nn.Conv(f, (3, 3), name=f'down_{i}')(hs[-1]))
      hs.append(h)
    for i, f in reversed(list(enumerate(self.feats))):
      h = jnp.concatenate([h, hs.pop()], axis=-1)
      h = nn.relu(nn.Conv(f, (3, 3), name=f'up_{i}')(h))
    return nn.Conv(3, (1, 1))(h)


class UnetRev(nn.Module):
  feats: Sequence[int]
  @nn.compact
  def __call__(self, x):
    hs = []
    for f in self.feats:
      x = nn.relu(nn.Conv(f, (3, 3))(x))
      hs.append(x)
      x = nn.max_pool(x, (2, 2), (2, 2))
    x = nn.Conv(16, (3, 3))(x)
    for f, s in zip(self.feats[::-1], hs[::-1]):
      b, h, w, c = s.shape
      x = jax.image.resize(x, (b, h, w, x.shape[-1]), 'nearest')
      x = jnp.concatenate([x, s], -1)
      x = nn.relu(nn.Conv(f, (3, 3))(x))
    return x


class UnetInline(nn.Module):
  feats: Sequence[int]
  nres: int = 2
  @nn.compact
  def __call__(self, x):
    h = nn.Conv(4, (3, 3))(x)
    hs = [h]
    for i, f in enumerate(self.feats):
      for j in range(self.nres):
        h = nn.relu(nn.Conv(f, (3, 3))(hs[-1]))
        hs.append(h)
      if i != len(self.feats) - 1:
        hs.append(nn.Conv(f, (3, 3))(hs[-1]))
    h = hs[-1]
    h = nn.relu(nn.Conv(7, (3, 3), name='mid')(h))
    for i, f in reversed(list(enumerate(self.feats))):
      for j in range(self.nres + 1):
        h = nn.relu(nn.Conv(f, (3, 3))(jnp.concatenate([h, hs.pop()], axis=-1)))
    assert not hs
    return nn.Conv(3, (1, 1))(h)


class UnetIndex(nn.Module):
  feats: Sequence[int]
  @nn.compact
  def __call__(self, x):
    hs = []
    for f in self.feats:
      x = nn.relu(nn.Conv(f, (3, 3))(x))
      hs.append(x)
    n = len(self.feats)
    for i in range(n):
      x = nn.Conv(self.feats[n - 1 - i], (3, 3))(jnp.concatenate([x, hs[-(i + 1)]], -1))
    return x


class SkipCat(nn.Module):
  n: int = 3
  @nn.compact
  def __call__(self, x):
    feats = [x]
    for i in range(self.n):
      y = nn.Dense(4)(jnp.concatenate(feats, axis=-1))
      feats.append(y)
    return nn.Dense(2, name='out')(jnp.concatenate(feats, axis=-1))


class PoolCat(nn.Module):
  sizes: Sequence[int]
  @nn.compact
  def __call__(self, x):
    outs = []
    for s in self.sizes:
      outs.append(nn.Dense(s)(x))
    y = jnp.concatenate(outs, axis=-1)
    return nn.Dense(2, name='o')(y)


class TimesInput(nn.Module):
  """Sizes that a comprehension computes from the input's."""

  hidden: Optional[tuple[int, ...]] = None
  alpha: Optional[tuple[float, ...]] = None
  act: Any = nn.relu

  @nn.compact
  def __call__(self, input):
    if self.hidden is None:
      if self.alpha is not None:
        sizes = [int(nh * input.shape[-1]) for nh in self.alpha]
      else:
        sizes = []
    else:
      sizes = self.hidden
    acts = [self.act] * len(sizes)
    x = input
    for nh, act in zip(sizes, acts):
      x = nn.Dense(features=nh)(x)
      if act:
        x = act(x)
    return nn.Dense(2)(x)


class CountedTimesInput(nn.Module):
  factors: tuple[int, ...] = (2, 1, 3)

  @nn.compact
  def __call__(self, x):
    sizes = [i * n * x.shape[-1] for i, n in enumerate(self.factors, 1) if n > 1]
    for n in sizes[::-1]:
      x = nn.Dense(n)(x)
    return x


CASES: list[Any] = [
    ('TimesInput', dict(alpha=(1.5, 2)), [(2,4)], dict()),
    ('TimesInput', dict(hidden=(5,), act=None), [(2,4)], dict()),
    ('CountedTimesInput', {}, [(2,4)], dict()),
    ('UnetComp', dict(feats=(4,8)), [(2,8,8,3)], dict()),
    ('UnetRev', dict(feats=(4,8)), [(2,8,8,3)], dict()),
    ('UnetInline', dict(feats=(4,8)), [(2,8,8,3)], dict()),
    ('UnetIndex', dict(feats=(4,8)), [(2,8,8,3)], dict()),
    ('SkipCat', dict(n=3), [(2,3)], dict()),
    ('PoolCat', dict(sizes=(3,5)), [(2,4)], dict()),
]
