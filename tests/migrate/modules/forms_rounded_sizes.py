"""Sizes rounded from fractions: `int(dim * ratio)`, which must stay rounded wherever the size is said; `CASES` as in forms_basic."""
from typing import Any, Sequence
import math
import dataclasses
import numpy as np
import flax.linen as nn
import jax.numpy as jnp

@dataclasses.dataclass(frozen=True)
class Cfg:
  width: int = 6
  ratio: float = 2.5
  scale: Any = 0.26

class Mlp(nn.Module):
  dim: int = 6
  ratio: float = 2.5
  @nn.compact
  def __call__(self, x):
    h = int(self.dim * self.ratio)
    y = nn.Dense(h)(x)
    y = nn.LayerNorm()(y)
    return nn.Dense(int(x.shape[-1] * self.ratio))(y)

class Parent(nn.Module):
  cfg: Cfg = Cfg()
  @nn.compact
  def __call__(self, x):
    x = Mlp(self.cfg.width, self.cfg.ratio)(x)
    x = nn.LayerNorm()(x)
    x = Mlp(ratio=1.3)(x)
    x = nn.Dense(round(self.cfg.width * self.cfg.ratio))(x)
    return nn.LayerNorm()(x)

class Three(nn.Module):
  dim: int = 30
  a: float = 0.1
  b: float = 0.7
  @nn.compact
  def __call__(self, x):
    x = nn.Dense(int(self.a * self.b * self.dim * 10))(x)
    x = nn.LayerNorm()(x)
    x = nn.Dense(math.ceil(self.dim * self.a))(x)
    x = nn.LayerNorm()(x)
    x = nn.Dense(int(np.ceil(self.dim * self.a)))(x)
    return nn.LayerNorm()(x)

class Setup(nn.Module):
  dim: int
  ratio: float = 4.0
  def setup(self):
    hidden = int(self.dim * self.ratio)
    self.a = nn.Dense(hidden)
    self.n = nn.LayerNorm()
    self.b = nn.Dense(self.dim)
    self.m = nn.LayerNorm()
  def __call__(self, x):
    return self.m(self.b(self.n(self.a(x))))

class Widths(nn.Module):
  widths: Sequence[int] = (4, 8)
  mult: float = 1.5
  @nn.compact
  def __call__(self, x):
    for w in self.widths:
      x = nn.Dense(int(w * self.mult))(x)
      x = nn.LayerNorm()(x)
    return nn.Dense(3)(x)

class Res(nn.Module):
  ratio: float = 0.5
  @nn.compact
  def __call__(self, x):
    c = x.shape[-1]
    y = nn.Dense(max(1, int(c * self.ratio)))(x)
    y = nn.relu(nn.LayerNorm()(y))
    return x + nn.Dense(c)(y)

class Div(nn.Module):
  dim: int = 24
  ratio: float = 2.0
  @nn.compact
  def __call__(self, x):
    h = int(2 * self.dim * self.ratio / 3)
    h = 8 * ((h + 8 - 1) // 8)
    x = nn.Dense(h)(x)
    return nn.LayerNorm()(x)

class Clipped(nn.Module):
  base: int = 64
  rate: float = 0.3
  const: Any = None
  @nn.compact
  def __call__(self, x):
    def nf(stage): return np.clip(int(self.base / 2.0 ** stage), 1, 6)
    fmaps = self.const if self.const is not None else nf(4)
    x = nn.Dense(nf(3))(x) * np.clip(self.rate, 0.0, 1.0)
    x = nn.Dense(np.minimum(self.base, 5).astype(int))(x) + self.param('const', nn.initializers.normal(), (4, fmaps, 1)).sum()
    return nn.Dense(3)(x)

class Powers(nn.Module):
  base: int = 4
  growth: float = 2.0
  depth: int = 2
  @nn.compact
  def __call__(self, x):
    width = int(self.base * self.growth ** self.depth)
    for _ in range(self.depth):
      x = nn.LayerNorm()(nn.Dense(width)(x))
    x = nn.Dense(int(width / self.growth))(x)
    return nn.Dense(int(self.base * 2 ** self.depth))(nn.LayerNorm()(x))

CASES=[('Powers', {}, [(2,3)], {}), ('Powers', dict(growth=1.7), [(2,3)], {}), ('Clipped', {}, [(2,3)], {}), ('Clipped', dict(base=10, const=2), [(2,3)], {}), ('Mlp', {}, [(2,3)], {}), ('Mlp', dict(dim=7, ratio=1.3), [(2,3)], {}), ('Parent', {}, [(2,3)], {}), ('Three', {}, [(2,3)], {}), ('Three', dict(dim=29), [(2,3)], {}),
 ('Setup', dict(dim=5), [(2,3)], {}), ('Setup', dict(dim=5,ratio=1.7), [(2,3)], {}), ('Widths', {}, [(2,3)], {}), ('Res', {}, [(2,6)], {}), ('Res', dict(ratio=0.35), [(2,6)], {}), ('Div', {}, [(2,3)], {}), ('Div', dict(ratio=1.3), [(2,3)], {})]
