"""Lists of modules that a compact method makes in one loop and calls in another, and layers made before they are called."""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from flax import linen as nn


class ListThenLoop(nn.Module):
  sizes: Sequence[int]
  @nn.compact
  def __call__(self, x):
    layers = [nn.Dense(f) for f in self.sizes]
    for layer in layers:
      x = nn.relu(layer(x))
    return x


class ListThenHead(nn.Module):
  sizes: Sequence[int]
  @nn.compact
  def __call__(self, x):
    layers = [nn.Dense(f) for f in self.sizes]
    for layer in layers:
      x = nn.relu(layer(x))
    return nn.Dense(3)(x)


class EnumList(nn.Module):
  sizes: Sequence[int]
  @nn.compact
  def __call__(self, x):
    layers = [nn.Dense(f) for f in self.sizes]
    for i, layer in enumerate(layers):
      x = layer(x)
      if i < len(layers) - 1:
        x = nn.relu(x)
    return x


class EnumName(nn.Module):
  sizes: Sequence[int]
  @nn.compact
  def __call__(self, x):
    layers = [nn.Dense(f, name=f'fc_{i}') for i, f in enumerate(self.sizes)]
    for i, layer in enumerate(layers):
      x = layer(x)
      if i != len(self.sizes) - 1:
        x = nn.relu(x)
    return x


class ZipFlags(nn.Module):
  sizes: Sequence[int]
  flags: Sequence[bool]
  @nn.compact
  def __call__(self, x):
    layers = [nn.Dense(f) for f in self.sizes]
    for layer, act in zip(layers, self.flags):
      x = layer(x)
      if act:
        x = nn.relu(x)
    return x


class AppendThen(nn.Module):
  sizes: Sequence[int]
  @nn.compact
  def __call__(self, x):
    layers = []
    for f in self.sizes:
      layers.append(nn.Dense(f))
    for layer in layers:
      x = nn.relu(layer(x))
    return x


class RangeIndex(nn.Module):
  sizes: Sequence[int]
  @nn.compact
  def __call__(self, x):
    layers = [nn.Dense(self.sizes[i]) for i in range(len(self.sizes))]
    for i in range(len(self.sizes)):
      x = layers[i](x)
      if i + 1 < len(self.sizes):
        x = nn.tanh(x)
    return x


class Head(nn.Module):
  sizes: Sequence[int]
  @nn.compact
  def __call__(self, x):
    head = nn.Dense(2)
    for f in self.sizes:
      x = nn.relu(nn.Dense(f)(x))
    return head(x)


class HeadNamed(nn.Module):
  sizes: Sequence[int]
  @nn.compact
  def __call__(self, x):
    head = nn.Dense(2, name='head')
    for f in self.sizes:
      x = nn.relu(nn.Dense(f)(x))
    return head(x)


class HeadLn(nn.Module):
  sizes: Sequence[int]
  @nn.compact
  def __call__(self, x):
    norm = nn.LayerNorm()
    for f in self.sizes:
      x = nn.relu(nn.Dense(f)(x))
    return norm(x)


class Listed(nn.Module):
  sizes: Sequence[int] = (3, 5)
  def setup(self):
    self.layers = [nn.Dense(f) for f in self.sizes]
  def __call__(self, x):
    for layer in self.layers:
      x = nn.relu(layer(x))
    return x


class Twice(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(2)(Listed()(Listed()(x)))


class MlpC(nn.Module):
  sizes: Sequence[int] = (3, 5)
  @nn.compact
  def __call__(self, x):
    layers = [nn.Dense(f) for f in self.sizes]
    for layer in layers:
      x = nn.relu(layer(x))
    return x


class TwiceC(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(2)(MlpC()(MlpC()(x)))


class Chunked(nn.Module):
  sizes: Sequence[int]
  @nn.compact
  def __call__(self, x):
    dense = [nn.Dense(f) for f in self.sizes]
    norm = [nn.LayerNorm() for _ in self.sizes]
    for d, n in zip(dense, norm):
      x = nn.relu(n(d(x)))
    return x


class Between(nn.Module):
  sizes: Sequence[int]
  @nn.compact
  def __call__(self, x):
    layers = [nn.Dense(f) for f in self.sizes]
    y = nn.Dense(9)(x)
    for l in layers:
      x = nn.relu(l(x))
    return nn.Dense(2)(x), y


class HeadBefore(nn.Module):
  sizes: Sequence[int]
  @nn.compact
  def __call__(self, x):
    layers = [nn.Dense(f) for f in self.sizes]
    head = nn.Dense(2)
    for l in layers:
      x = nn.relu(l(x))
    return head(x)


class HeadFirst(nn.Module):
  sizes: Sequence[int]
  @nn.compact
  def __call__(self, x):
    head = nn.Dense(2)
    layers = [nn.Dense(f) for f in self.sizes]
    for l in layers:
      x = nn.relu(l(x))
    return head(x)


class TwoHeads(nn.Module):
  sizes: Sequence[int]
  @nn.compact
  def __call__(self, x):
    mean = nn.Dense(2)
    std = nn.Dense(3)
    for f in self.sizes:
      x = nn.relu(nn.Dense(f)(x))
    return std(x), mean(x)


class TwoHeads2(nn.Module):
  sizes: Sequence[int]
  @nn.compact
  def __call__(self, x):
    mean = nn.Dense(2)
    std = nn.Dense(3)
    for f in self.sizes:
      x = nn.relu(nn.Dense(f)(x))
    return mean(x), std(x)


class Stem(nn.Module):
  sizes: Sequence[int]
  @nn.compact
  def __call__(self, x):
    layers = [nn.Dense(f) for f in self.sizes]
    x = nn.Dense(9)(x)
    for l in layers:
      x = nn.relu(l(x))
    return nn.Dense(2)(x)


class Shared(nn.Module):
  sizes: Sequence[int]
  @nn.compact
  def __call__(self, x):
    layers = [nn.Dense(5) for f in self.sizes]
    mix = nn.Dense(5)
    for l in layers:
      x = mix(nn.relu(l(x)))
    return x


class Residual(nn.Module):
  sizes: Sequence[int]
  @nn.compact
  def __call__(self, x):
    layers = [nn.Dense(f) for f in self.sizes]
    skips = []
    for l in layers:
      x = nn.relu(l(x))
      skips.append(x)
    return nn.Dense(2)(jnp.concatenate(skips, -1))


class Dropped(nn.Module):
  sizes: Sequence[int]
  @nn.compact
  def __call__(self, x, train=False):
    layers = [nn.Dense(f) for f in self.sizes]
    for i, l in enumerate(layers):
      x = l(x)
      x = nn.LayerNorm()(x)
      x = nn.Dropout(0.5, deterministic=not train)(x)
    return nn.Dense(2)(x)


class Conds(nn.Module):
  sizes: Sequence[int]
  norm: bool = True
  @nn.compact
  def __call__(self, x):
    layers = [nn.Dense(f) for f in self.sizes]
    for l in layers:
      x = l(x)
      if self.norm:
        x = nn.LayerNorm()(x)
    return nn.Dense(2)(x)


class ClashF(nn.Module):
  sizes: Sequence[int]
  @nn.compact
  def __call__(self, x):
    layers = []
    for f in self.sizes:
      layers.append(nn.Dense(f))
    f = 7
    for l in layers:
      x = nn.relu(l(x))
    return nn.Dense(f)(x)


class IfHead(nn.Module):
  sizes: Sequence[int]
  out: int = 2
  @nn.compact
  def __call__(self, x):
    head = nn.Dense(self.out)
    for f in self.sizes:
      x = nn.relu(nn.Dense(f)(x))
    if self.out > 1:
      x = head(x)
    return x


class Inner(nn.Module):
  sizes: Sequence[int]
  reps: int = 2
  @nn.compact
  def __call__(self, x):
    for r in range(self.reps):
      layers = [nn.Dense(f) for f in self.sizes]
      for l in layers:
        x = nn.relu(l(x))
    return nn.Dense(2)(x)


class Blocks(nn.Module):
  sizes: Sequence[int]
  @nn.compact
  def __call__(self, x):
    blocks = [Between((f, f + 1)) for f in self.sizes]
    for b in blocks:
      x, _ = b(x)
    return x


class NamedList(nn.Module):
  sizes: Sequence[int]
  @nn.compact
  def __call__(self, x):
    layers = [nn.Dense(f, name=f'l{i}') for i, f in enumerate(self.sizes)]
    norms = [nn.LayerNorm(name=f'n_{i}') for i in range(len(self.sizes))]
    for i in range(len(layers)):
      x = norms[i](layers[i](x))
    return x


class Convs(nn.Module):
  sizes: Sequence[int]
  @nn.compact
  def __call__(self, x):
    convs = [nn.Conv(f, (3, 3), strides=2) for f in self.sizes]
    bns = [nn.BatchNorm(use_running_average=True) for _ in self.sizes]
    for c, b in zip(convs, bns):
      x = nn.relu(b(c(x)))
    x = x.reshape((x.shape[0], -1))
    return nn.Dense(2)(x)


class Convs2(nn.Module):
  sizes: Sequence[int]
  @nn.compact
  def __call__(self, x):
    convs = [nn.Conv(f, (3, 3), strides=2) for f in self.sizes]
    for c in convs:
      x = nn.relu(c(x))
    return nn.Dense(2)(x.mean((1, 2)))


class CompactPar(nn.Module):
  sizes: Sequence[int]
  @nn.compact
  def __call__(self, x):
    dense, norm = [], []
    for f in self.sizes:
      dense.append(nn.Dense(f))
    for _ in self.sizes:
      norm.append(nn.LayerNorm())
    return [n(d(x)) for d, n in zip(dense, norm)]


class CompactPicked(nn.Module):
  sizes: Sequence[int]
  @nn.compact
  def __call__(self, x):
    dense = [nn.Dense(f) for f in self.sizes]
    for d in dense:
      d(x)
    return nn.Dense(2)(dense[0](x))


class SetupPicked(nn.Module):
  sizes: Sequence[int]
  def setup(self):
    self.dense = [nn.Dense(f) for f in self.sizes]
    self.norms = [nn.LayerNorm() for f in self.sizes]
  def __call__(self, x):
    for d in self.dense:
      d(x)
    return [n(self.dense[0](x)) for n in self.norms]


SIZES: dict[str, Any] = dict(sizes=(4, 6, 3))
OTHERS = ("ZipFlags", "Twice", "TwiceC", "Convs", "Convs2")
NAMES = [n for n, c in list(globals().items()) if isinstance(c, type) and issubclass(c, nn.Module) and n not in OTHERS]
CASES: list[Any] = [
    *[(name, SIZES, [(2, 5)], {}) for name in NAMES],
    ("ZipFlags", dict(sizes=(4, 6, 3), flags=(True, False, True)), [(2, 5)], {}),
    ("Twice", {}, [(2, 5)], {}),
    ("TwiceC", {}, [(2, 5)], {}),
    ("Conds", dict(sizes=(4, 6, 3), norm=False), [(2, 5)], {}),
    ("Convs", SIZES, [(2, 16, 16, 3)], {}),
    ("Convs2", SIZES, [(2, 16, 16, 3)], {}),
]
