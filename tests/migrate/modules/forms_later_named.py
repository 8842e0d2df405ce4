"""Parameters whose names, too, only the call knows, and those that follow the call's dtypes; `CASES` as in forms_basic."""

import math
from typing import Any, Callable
import flax
import jax
import jax.numpy as jnp
from flax import linen as nn


@flax.struct.dataclass
class Path:
  """One path of a computation that an object knows."""
  i_in: int
  shape: tuple[int, ...]
  std: float


class Paths:
  def __init__(self, widths, out):
    self.paths = [Path(i, (w, out), 1.0 / math.sqrt(w)) for i, w in enumerate(widths)]


def leaves(x):
  return jax.tree.leaves({'a': x, 'b': x * 2})


class Instructed(nn.Module):
  """Names in a comprehension over what an object computes from shapes."""
  out: int = 4
  @nn.compact
  def __call__(self, x):
    parts = leaves(x)
    plan = Paths([p.shape[-1] for p in parts], self.out)
    ws = [
      self.param(f'w[{p.i_in}] {p.shape[0]}x{self.out}', nn.initializers.normal(stddev=p.std), p.shape)
      for p in plan.paths
    ]
    return sum(part @ w for part, w in zip(parts, ws))


class Either(nn.Module):
  """Two kinds in one comprehension."""
  @nn.compact
  def __call__(self, x):
    plan = Paths([h.shape[-1] for h in leaves(x)], 3)
    ws = [
      self.param(f'b[{p.i_in}]', nn.initializers.ones, p.shape[1:])
      if p.i_in == 1
      else self.param(f'w[{p.i_in}]', nn.initializers.normal(stddev=p.std), p.shape)
      for p in plan.paths
    ]
    return x @ ws[0] + ws[1]


class Looped(nn.Module):
  """Names of a loop over the leaves of a tree."""
  @nn.compact
  def __call__(self, x):
    out = []
    for i, leaf in enumerate(leaves(x)):
      scale = self.param(f'scale_{i}', nn.initializers.ones, (leaf.shape[-1],))
      shift = self.param('shift/' + str(i), nn.initializers.normal(0.1 + leaf.ndim), leaf.shape[1:])
      out.append(leaf * scale + shift)
    return jnp.concatenate(out, -1)


class Asked(nn.Module):
  """A function that the call hands to another function, which asks for parameters."""
  @nn.compact
  def __call__(self, x):
    h = leaves(x)[0]
    def get(name, shape, std):
      return self.param(name, nn.initializers.normal(stddev=std), shape)
    return apply_linear(h, get) * 2


def apply_linear(x, get):
  w = get('w-0', (x.shape[-1], 2), 0.5)
  return x @ w + get('b-0', (2,), 1.0)


class Typed(nn.Module):
  """The dtype of what a loop gives."""
  @nn.compact
  def __call__(self, x):
    h = leaves(x)[0]
    w = self.param('w', nn.initializers.normal(1.0), (h.shape[-1], 3), h.dtype)
    return h @ w


class TypedByName(nn.Module):
  @nn.compact
  def __call__(self, x):
    h = leaves(x)[0]
    return h + self.param('w', nn.initializers.ones, shape=h.shape[1:], dtype=h.dtype)


class Counted(nn.Module):
  """Names that the constructor could say, of shapes that it cannot."""
  @nn.compact
  def __call__(self, x):
    h = leaves(x)[1]
    for i in range(2):
      h = h * self.param(f'w{i}', nn.initializers.normal(1.0), (h.shape[-1],))
    return h


def input_features(self, n):
  return n


def several(self, n):
  return n * self.times if self.times else n


class Prompt(nn.Module):
  """A size by a function that a field holds, and that is given the module: it reads fields."""
  length: int = 2
  times: int = 1
  size: Callable[[nn.Module, int], int] = input_features
  @nn.compact
  def __call__(self, x):
    n = self.size(self, x.shape[-1])
    w = self.param('w', nn.initializers.normal(1.0), (self.length, n))
    return jnp.concatenate([jnp.tile(x, (1, n // x.shape[-1])), w], 0)


class Prompts(Prompt):
  size: Callable[[nn.Module, int], int] = several
  times: int = 3


class Around(nn.Module):
  @nn.compact
  def __call__(self, x):
    x = x.astype(jnp.bfloat16)
    x = nn.Dense(5)(Instructed()(x))
    x = Looped()(Typed()(x))
    return Either(name='either')(x)


class Twice(nn.Module):
  def setup(self):
    self.one = Looped()
    self.two = [Instructed(3), Instructed(2)]
  def __call__(self, x):
    for layer in self.two:
      x = layer(x)
    return self.one(self.one(x)[..., :2])


class Again(nn.Module):
  """In nn.remat."""
  @nn.compact
  def __call__(self, x):
    return nn.remat(Looped)()(x)


CASES: list[Any] = [
    ('Instructed', dict(), [(2, 3)], dict()),
    ('Instructed', dict(out=1), [(5, 4, 3)], dict()),
    ('Either', dict(), [(2, 3)], dict()),
    ('Looped', dict(), [(2, 5, 3)], dict()),
    ('Asked', dict(), [(2, 3)], dict()),
    ('Typed', dict(), [(2, 3)], dict()),
    ('TypedByName', dict(), [(2, 3)], dict()),
    ('Counted', dict(), [(2, 3)], dict()),
    ('Prompt', dict(), [(2, 3)], dict()),
    ('Prompt', dict(size=several, times=2), [(2, 3)], dict()),
    ('Prompts', dict(length=4), [(2, 3)], dict()),
    ('Around', dict(), [(2, 3)], dict()),
    ('Twice', dict(), [(2, 3)], dict()),
]
