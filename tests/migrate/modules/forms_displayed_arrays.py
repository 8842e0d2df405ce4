"""Loops over arrays that are written out: the constructor goes through their widths; `CASES` as in forms_basic."""

import flax.linen as nn
import jax.numpy as jnp


class NamedRows(nn.Module):
  @nn.compact
  def __call__(self, a, b):
    out = []
    for name, v in (("ta", a), ("tb", b)):
      v = nn.Dense(8, name=name)(v)
      out.append(v)
    return out[0] + out[1]


class WidthsInRows(nn.Module):
  @nn.compact
  def __call__(self, a, b):
    out = 0
    for name, v, w in (("ta", a, 4), ("tb", b, 4)):
      out = out + nn.Dense(w, name=name)(v)
    return out


class OfADict(nn.Module):
  @nn.compact
  def __call__(self, a, b):
    out = 0
    for name, v in {"ta": a, "tb": b}.items():
      out = out + nn.Dense(4, name=name)(v)
    return out


class Zipped(nn.Module):
  @nn.compact
  def __call__(self, a, b):
    out = []
    for name, v in zip(("ta", "tb"), (a, b)):
      out.append(nn.Dense(4, name=f"x_{name}")(v))
    return jnp.concatenate(out, -1)


class OneColumn(nn.Module):
  @nn.compact
  def __call__(self, a, b):
    out = []
    for v in (a, b):
      out.append(nn.Dense(4)(v))
    return jnp.concatenate(out, -1)


class Counted(nn.Module):
  @nn.compact
  def __call__(self, a, b):
    out = []
    for i, v in enumerate([a, b]):
      out.append(nn.Dense(4, name=f'd_{i}')(v))
    return jnp.concatenate(out, -1)


class MadeInTheDisplay(nn.Module):
  @nn.compact
  def __call__(self, a, b):
    out = 0
    for v in (nn.Dense(3)(a), b):
      out = out + nn.Dense(4)(v)
    return out


class MadeInTheRows(nn.Module):
  @nn.compact
  def __call__(self, a, b):
    out = 0
    for name, v in (("x", nn.LayerNorm()(a)), ("y", b * 2)):
      out = out + nn.Dense(4, name=name)(v)
    return out


class Carried(nn.Module):
  s: int = 6
  @nn.compact
  def __call__(self, a, b):
    x = a
    for w, skip in ((4, a), (self.s, b)):
      x = nn.Dense(w)(jnp.concatenate([x, skip], -1))
    return nn.Dense(2)(x)


class OneForAll(nn.Module):
  def setup(self):
    self.enc = nn.Dense(4)
  def __call__(self, a, b):
    out = 0
    for v in (a, a * 2):
      out = out + self.enc(v)
    return out


class UnderConditions(nn.Module):
  flag: bool = True
  @nn.compact
  def __call__(self, a, b):
    out = 0
    for name, v in (("ta", a), ("tb", b)):
      if self.flag or name == "ta":
        out = out + nn.Dense(4, name=name)(v)
    return out


class SomeLeftOut(nn.Module):
  @nn.compact
  def __call__(self, a, b):
    out = 0
    for name, v in (("ta", a), ("tb", b)):
      if name == "tb": continue
      out = out + nn.Dense(4, name=name)(v)
    return out


class InALoop(nn.Module):
  @nn.compact
  def __call__(self, a, b):
    out = 0
    for i in range(2):
      for v in (a, b):
        out = out + nn.Dense(4)(v)
    return out


class OfAName(nn.Module):
  names: tuple = ("u", "v")
  @nn.compact
  def __call__(self, a, b):
    xs = (a, b)
    ys = []
    for n, x in zip(self.names, xs):
      ys.append(nn.Dense(4, name=n)(x))
    return nn.Dense(3)(jnp.concatenate(ys, -1))


class DictOfThem(nn.Module):
  @nn.compact
  def __call__(self, a, b):
    ys = {k: nn.Dense(4, name=k)(v) for k, v in (("p", a), ("q", b))}
    return nn.Dense(3)(jnp.concatenate([ys["p"], ys["q"]], -1))


class OneOverTheOther(nn.Module):
  @nn.compact
  def __call__(self, a, b):
    y = 0
    for v in (a, b):
      for k in (v, v * 2):
        y = y + nn.Dense(3)(k)
    return y


class TwiceAsWide(nn.Module):
  @nn.compact
  def __call__(self, a, b):
    y = []
    for v in (a, b):
      y.append(nn.Dense(v.shape[-1] * 2)(v))
    return nn.Dense(2)(jnp.concatenate(y, -1))


class Parameters(nn.Module):
  @nn.compact
  def __call__(self, a, b):
    y = []
    for n, v in (("p", a), ("q", b)):
      w = self.param(n, nn.initializers.ones, (v.shape[-1],))
      y.append(v * w)
    return nn.Dense(2)(jnp.concatenate(y, -1))


class ListOfSetup(nn.Module):
  def setup(self):
    self.encs = [nn.Dense(4), nn.Dense(4)]
  def __call__(self, a, b):
    y = 0
    for e, v in zip(self.encs, (a, b)):
      y = y + e(v)
    return y


class Convolutions(nn.Module):
  @nn.compact
  def __call__(self, a, b):
    y = 0
    for f, v in ((4, a), (4, b)):
      y = y + nn.Conv(f, (3,))(v)
    return y


CASES = [
  ('NamedRows', {}, [(2, 5), (2, 6)], {}),
  ('WidthsInRows', {}, [(2, 5), (2, 6)], {}),
  ('OfADict', {}, [(2, 5), (2, 6)], {}),
  ('Zipped', {}, [(2, 5), (2, 6)], {}),
  ('OneColumn', {}, [(2, 5), (2, 6)], {}),
  ('Counted', {}, [(2, 5), (2, 6)], {}),
  ('MadeInTheDisplay', {}, [(2, 5), (2, 6)], {}),
  ('MadeInTheRows', {}, [(2, 5), (2, 6)], {}),
  ('Carried', {}, [(2, 5), (2, 6)], {}),
  ('OneForAll', {}, [(2, 5), (2, 6)], {}),
  ('UnderConditions', {}, [(2, 5), (2, 6)], {}),
  ('SomeLeftOut', {}, [(2, 5), (2, 6)], {}),
  ('InALoop', {}, [(2, 5), (2, 6)], {}),
  ('OfAName', {}, [(2, 5), (2, 6)], {}),
  ('DictOfThem', {}, [(2, 5), (2, 6)], {}),
  ('OneOverTheOther', {}, [(2, 5), (2, 6)], {}),
  ('TwiceAsWide', {}, [(2, 5), (2, 6)], {}),
  ('Parameters', {}, [(2, 5), (2, 6)], {}),
  ('ListOfSetup', {}, [(2, 5), (2, 6)], {}),
  ('UnderConditions', dict(flag=False), [(2, 5), (2, 6)], {}),
  ('Carried', dict(s=3), [(2, 5), (2, 6)], {}),
  ('Convolutions', {}, [(2, 7, 5), (2, 7, 6)], {}),
]
