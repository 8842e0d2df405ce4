"""Lists of several modules for each pass, which a compact method makes in one loop and calls in another; `CASES` as in
forms_basic."""

from collections.abc import Callable, Sequence

import jax.numpy as jnp
from flax import linen as nn


class PreNorm(nn.Module):
  fn: Callable
  @nn.compact
  def __call__(self, x, **kwargs):
    return self.fn(nn.LayerNorm()(x), **kwargs)


class Residual(nn.Module):
  fn: Callable
  @nn.compact
  def __call__(self, x, **kwargs):
    return self.fn(x, **kwargs) + x


class Again(nn.Module):
  fn: nn.Module
  def __call__(self, x):
    return self.fn(x)


class Sides(nn.Module):
  fns: Sequence[Callable]
  @nn.compact
  def __call__(self, x):
    return sum([fn(x) for fn in self.fns])


class Feed(nn.Module):
  dim: int
  hidden: int = 6
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.dim)(nn.gelu(nn.Dense(self.hidden)(x)))


class Pairs(nn.Module):
  dim: int
  depth: int = 2
  @nn.compact
  def __call__(self, x):
    layers = []
    for _ in range(self.depth):
      layers.append([Feed(self.dim, 7), Feed(self.dim, 9)])
    for first, second in layers:
      x = first(x) + x
      x = second(x) + x
    return x


class Wrapped(nn.Module):
  dim: int
  depth: int = 2
  @nn.compact
  def __call__(self, x):
    layers = []
    for _ in range(self.depth):
      layers.append((nn.Dense(self.dim), PreNorm(Feed(self.dim, 7)), PreNorm(Feed(self.dim + 1))))
    for i, (dense, first, second) in enumerate(layers):
      x = second(first(dense(x)) * i)
    return nn.Dense(2)(x)


class WrappedTwice(nn.Module):
  dim: int
  depth: int = 2
  @nn.compact
  def __call__(self, x):
    layers = []
    for _ in range(self.depth):
      layers.append([Residual(PreNorm(Feed(self.dim, 7))), Residual(PreNorm(Feed(self.dim, 9)))])
    for first, second in layers:
      x = second(first(x))
    return x


class Comprehended(nn.Module):
  widths: Sequence[int]
  @nn.compact
  def __call__(self, x):
    layers = [(nn.Dense(width), Feed(2 * width)) for width in self.widths]
    for dense, feed in layers:
      x = feed(dense(x))
    return nn.Dense(2)(x)


class Growing(nn.Module):
  dim: int
  depth: int = 2
  @nn.compact
  def __call__(self, x):
    layers = []
    for i in range(self.depth):
      layers.append((nn.Dense(self.dim * (i + 1)), Feed(self.dim)))
    for pair in layers:
      x = jnp.concatenate([x, pair[0](x)], -1)
      x = jnp.concatenate([x, pair[1](x)], -1)
    return x


class Shared(nn.Module):
  dim: int
  depth: int = 2
  @nn.compact
  def __call__(self, x):
    shared = Feed(self.dim)
    layers = []
    for _ in range(self.depth):
      one = nn.Dense(self.dim)
      layers.append((one, PreNorm(shared), Again(one)))
    for dense, feed, again in layers:
      x = again(feed(dense(x)))
    return x


class ByNumber(nn.Module):
  dim: int
  depth: int = 2
  @nn.compact
  def __call__(self, x):
    layers = []
    for _ in range(self.depth):
      layers.append((nn.Dense(self.dim), Feed(self.dim)))
    for i in range(self.depth):
      x = layers[i][0](x)
      x = layers[i][1](x)
    return x


class Same(nn.Module):
  @nn.compact
  def __call__(self, x):
    return x


class Other(nn.Module):
  dim: int
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.dim)(x)


class Chosen(nn.Module):
  dim: int
  mixed: bool = True
  depth: int = 2
  @nn.compact
  def __call__(self, x):
    layers = []
    for i in range(self.depth):
      layers.append((Other(self.dim + 1) if self.mixed else Same(), nn.Dense(self.dim) if i > 0 else None))
    norm = nn.LayerNorm() if self.mixed else Other(3)
    for first, second in layers:
      x = first(x)
      if second is not None:
        x = second(x)
    return norm(x)


class ChosenAside(nn.Module):
  dim: int
  mixed: bool = True
  depth: int = 2
  @nn.compact
  def __call__(self, x):
    firsts, seconds = [], []
    for i in range(self.depth):
      firsts.append(Other(self.dim + 1) if self.mixed else Same())
      seconds.append(nn.Dense(self.dim) if i > 0 else None)
    for first, second in zip(firsts, seconds):
      x = first(x)
      if second is not None:
        x = second(x)
    return x


class ChosenBefore(nn.Module):
  dim: int
  mixed: bool = True
  @nn.compact
  def __call__(self, x):
    head = Other(3) if self.mixed else nn.LayerNorm()
    for i in range(2):
      x = nn.Dense(self.dim + i)(x)
    return head(x)


class Beside(nn.Module):
  dim: int
  @nn.compact
  def __call__(self, x):
    x = Sides([PreNorm(Feed(self.dim, 7)), PreNorm(Feed(self.dim, 9))])(x)
    return nn.Dense(3)(x)


CASES = [
    ("WrappedTwice", {"dim": 4}, [(2, 5, 4)], {}),
    ("Wrapped", {"dim": 8}, [(2, 5, 4)], {}),
    ("Pairs", {"dim": 4}, [(2, 5, 4)], {}),
    ("Pairs", {"dim": 4}, [(2, 5, 1)], {}),
    ("Comprehended", {"widths": (3, 5)}, [(2, 5, 4)], {}),
    ("Growing", {"dim": 3}, [(2, 5, 4)], {}),
    ("Shared", {"dim": 4}, [(2, 5, 4)], {}),
    ("Chosen", {"dim": 8}, [(2, 5, 4)], {}),
    ("Chosen", {"dim": 8, "mixed": False}, [(2, 5, 4)], {}),
    ("ChosenAside", {"dim": 8}, [(2, 5, 4)], {}),
    ("ChosenAside", {"dim": 8, "mixed": False}, [(2, 5, 4)], {}),
    ("ChosenBefore", {"dim": 8}, [(2, 5, 4)], {}),
    ("ChosenBefore", {"dim": 8, "mixed": False}, [(2, 5, 4)], {}),
    ("ByNumber", {"dim": 8}, [(2, 5, 4)], {}),
    ("Beside", {"dim": 8}, [(2, 5, 4)], {}),
]
