"""Parameters whose shapes only the call knows; `CASES` as in forms_basic."""

from typing import Any, Sequence
import jax
import jax.numpy as jnp
from flax import linen as nn


def leaves(x):
  return jax.tree.leaves({'a': x, 'b': x * 2})


class Token(nn.Module):
  @nn.compact
  def __call__(self, x):
    h = leaves(x)[1]
    n, t, c = h.shape
    cls = self.param('cls', nn.initializers.normal(0.02), (1, 1, c))
    return jnp.concatenate([jnp.tile(cls, [n, 1, 1]), h], axis=1)


class Positions(nn.Module):
  width: int
  table_init: Any = nn.initializers.normal(0.02)
  @nn.compact
  def __call__(self, x, train: bool = False):
    h = nn.Dense(self.width)(x)
    h = leaves(h)[0]
    table = self.param('table', self.table_init, (h.shape[1], self.width), jnp.float32)
    h = h + table
    h = nn.Dropout(0.5)(h, deterministic=not train)
    return nn.Dense(3)(h)


class Convolved(nn.Module):
  features: int
  kernel_size: Sequence[int] = (3,)
  use_bias: bool = True
  @nn.compact
  def __call__(self, x):
    x = leaves(x)[0]
    shape = tuple(self.kernel_size) + (x.shape[-1], self.features)
    kernel = self.param('kernel', nn.initializers.lecun_normal(), shape)
    out = jax.lax.conv_general_dilated(x, kernel, (1,), 'SAME', dimension_numbers=('NHC', 'HIO', 'NHC'))
    if self.use_bias:
      bias = self.param('bias', nn.initializers.zeros, (out.shape[-1],))
      out = out + bias
    return out


class Renamed(nn.Module):
  @nn.compact
  def __call__(self, x):
    x = leaves(x)[0]
    count = x.shape[1]
    x = jnp.concatenate([x, x], axis=-1)
    gain = self.param('gain', lambda key, n: jax.random.normal(key, (n, 2)), count)
    count = 7
    return (x * gain.sum(-1)[:, None]) + count


class Around(nn.Module):
  width: int
  @nn.compact
  def __call__(self, x):
    x = Token(name='token')(x)
    x = Positions(self.width)(x)
    return nn.Dense(2)(Convolved(4)(x))


class Stack(nn.Module):
  @nn.compact
  def __call__(self, x):
    for width in (4, 6):
      x = Positions(width)(x)
    return x


class Grown(nn.Module):
  way: str = 'name'
  @nn.compact
  def __call__(self, x, train: bool = True):
    shape = first = []
    other = shape
    if self.way == 'name':
      other.append(3)
    elif self.way == 'deleted':
      first.append(7)
      shape.append(3)
      del shape[0]
    else:
      i = 0
      while i < 1:
        i += 1
        shape.append(3)
    return x + self.param('table', nn.initializers.ones, shape)


class Spread(nn.Module):
  width: int
  @nn.compact
  def __call__(self, x):
    h = leaves(x)[1]
    scale = 1.0 / jnp.sqrt(self.width)
    table = self.param('table', nn.initializers.normal(stddev=scale), (h.shape[1], self.width), h.dtype)
    low = jnp.asarray(-0.5)
    shift = self.param('shift', lambda key, n: jax.random.uniform(key, (n,), minval=low), h.shape[-1])
    return (h * shift)[..., None] * table[:, None, : self.width]


class Reused(nn.Module):
  @nn.compact
  def __call__(self, x):
    h = leaves(x)[0]
    size = h.shape[-1]
    name = 'first'
    total = 0.0
    for size, kind in [(h.shape[1], 'rows'), (size, 'columns')]:
      total = total + self.param(f'{name}_{kind}', nn.initializers.normal(), (1, size)).sum()
    for size, name in zip(leaves(h), ('a', 'b')):
      total = total + size.mean() * len(name)
    kind = h.sum()
    return h * total + kind


class Written(nn.Module):
  @nn.compact
  def __call__(self, eqn: str, x):
    h = leaves(x)[0]
    w = self.param('w', nn.initializers.ones, (len(eqn), h.shape[-1]))
    return h + w.sum(0)


class Says(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Written()('abc', x)


def started(x):
  key = jax.random.key(0)
  Grown().init(key, x)
  Says().init(key, x)
  Renamed().init(key, x)
  Reused().init(key, x)
  Spread(4).init(key, x)
  return Around(4).init(key, x), Stack().init(key, x)


CASES: list[Any] = [
    ('Spread', dict(width=4), [(2, 5, 3)], dict()),
    ('Reused', dict(), [(2, 5, 3)], dict()),
    ('Token', dict(), [(2, 5, 3)], dict()),
    ('Positions', dict(width=4), [(2, 5, 3)], dict()),
    ('Positions', dict(width=4), [(2, 5, 3)], dict(train=False)),
    ('Convolved', dict(features=4), [(2, 5, 3)], dict()),
    ('Convolved', dict(features=4, use_bias=False), [(2, 5, 3)], dict()),
    ('Renamed', dict(), [(2, 5, 3)], dict()),
    ('Grown', dict(), [(2, 5, 3)], dict()),
    ('Grown', dict(way='deleted'), [(2, 5, 3)], dict()),
    ('Grown', dict(way='loop'), [(2, 5, 3)], dict()),
    ('Says', dict(), [(2, 5, 3)], dict()),
    ('Around', dict(width=4), [(2, 5, 3)], dict()),
    ('Stack', dict(), [(2, 5, 3)], dict()),
]
