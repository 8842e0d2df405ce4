"""Partials that hold `name=`, and partials that are called where they stand or under `nn.remat`."""

from functools import partial
import functools
from typing import Any

import flax.linen as nn


class Body(nn.Module):
  size: int
  scale: float = 1.0
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.size)(x) * self.scale

class Step(nn.Module):
  size: int
  @nn.compact
  def __call__(self, x, _):
    return nn.Dense(self.size)(x), None

class Layer(nn.Module):
  size: int = 3
  @nn.compact
  def __call__(self, x):
    dense = functools.partial(nn.Dense, self.size, name="proj")
    return dense()(x)

class Class(nn.Module):
  size: int = 3
  @nn.compact
  def __call__(self, x):
    body = partial(Body, self.size, name="body")
    return body()(x)

class Chosen(nn.Module):
  size: int = 3
  flag: bool = True
  @nn.compact
  def __call__(self, x):
    if self.flag:
      body = partial(Body, size=self.size, name="body")
    else:
      body = partial(nn.Dense, features=self.size, name="plain")
    return body()(x)

class Overridden(nn.Module):
  size: int = 3
  @nn.compact
  def __call__(self, x):
    body = partial(Body, size=self.size, name="body")
    x = body()(x)
    x = body(name="other", scale=2.0)(x)
    return body(name=None)(x)

class Looped(nn.Module):
  size: int = 3
  depth: int = 2
  @nn.compact
  def __call__(self, x):
    for i in range(self.depth):
      body = partial(Body, size=self.size, name=f"b_{i}")
      x = body(scale=0.5)(x)
    return x

class InSetup(nn.Module):
  size: int = 3
  def setup(self):
    body = partial(Body, size=self.size, name="inner")
    self.first = body()
    self.norm = partial(nn.LayerNorm, name="ln")()
  def __call__(self, x):
    return self.norm(self.first(x))

class MaybeRemat(nn.Module):
  size: int = 3
  remat: bool = True
  @nn.compact
  def __call__(self, x):
    cls = nn.remat(Body) if self.remat else Body
    body = partial(cls, size=self.size, name="body")
    return body()(x)

class FieldName(nn.Module):
  name_: str = "zz"
  size: int = 3
  @nn.compact
  def __call__(self, x):
    body = partial(partial(Body, name=self.name_), size=self.size)
    return body()(x)

class RematOfPartial(nn.Module):
  size: int = 3
  @nn.compact
  def __call__(self, x):
    return nn.remat(partial(Body, size=self.size, name="body"))()(x)

class CalledAtOnce(nn.Module):
  size: int = 3
  @nn.compact
  def __call__(self, x):
    return nn.Dense(2)(partial(nn.BatchNorm, use_running_average=True, name="bn")()(x))

class Scanned(nn.Module):
  size: int = 3
  @nn.compact
  def __call__(self, x):
    block = partial(nn.scan(Step, variable_axes={"params": 0}, split_rngs={"params": True}, length=2), size=self.size, name="layers")
    x, _ = block()(x, None)
    return x

class Flagged(nn.Module):
  size: int = 3
  @nn.compact
  def __call__(self, x, train: bool = False):
    norm = partial(nn.BatchNorm, use_running_average=not train, name="bn")
    return norm()(x)

class Formatted(nn.Module):
  size: int = 3
  @nn.compact
  def __call__(self, x):
    body = partial(Body, self.size, name="b%d" % x.ndim)
    return body()(x)

class FromFunction(nn.Module):
  size: int = 3
  @nn.compact
  def __call__(self, x):
    def block(i):
      return partial(Body, self.size, name=f"b{i}")
    return block(1)()(block(0)()(x))

class Unpacked(nn.Module):
  size: int = 3
  @nn.compact
  def __call__(self, x):
    body = partial(Body, self.size, name="a", **{"scale": 2.0})
    x = body()(x)
    return body(name="b")(x)

class PartialOfRemat(nn.Module):
  size: int = 3
  remat: bool = True
  @nn.compact
  def __call__(self, x):
    cls = nn.remat(Body) if self.remat else Body
    x = cls(self.size, name="a")(x)
    return partial(nn.remat(Body), name="b")(self.size)(x)

Proj = partial(Body, name="proj")
Lin = partial(nn.Dense, name="lin")

class Aliases(nn.Module):
  size: int = 3
  @nn.compact
  def __call__(self, x):
    return Lin(2)(Proj(self.size)(x))

class NormAtOnce(nn.Module):
  @nn.compact
  def __call__(self, x):
    return partial(nn.LayerNorm, epsilon=0.5)()(x)

class ClassAtOnce(nn.Module):
  size: int = 3
  @nn.compact
  def __call__(self, x):
    return partial(Body, self.size, scale=3.0)()(x)

class RematNorm(nn.Module):
  size: int = 3
  @nn.compact
  def __call__(self, x):
    return nn.Dense(2)(nn.remat(partial(nn.LayerNorm, epsilon=0.5))()(x))

class NormInSetup(nn.Module):
  size: int = 3
  def setup(self):
    self.a = partial(nn.LayerNorm, epsilon=0.5)()
  def __call__(self, x):
    return self.a(x)

class RematNormNamed(nn.Module):
  size: int = 3
  @nn.compact
  def __call__(self, x):
    f = nn.remat(partial(nn.LayerNorm, epsilon=0.5))
    return f()(x)

class RematTwice(nn.Module):
  size: int = 3
  @nn.compact
  def __call__(self, x):
    cls = nn.remat(Body)
    body = partial(cls, size=self.size, scale=2.0)
    return body()(body(scale=3.0)(x))

class RematInSetup(nn.Module):
  size: int = 3
  def setup(self):
    cls = nn.remat(Body)
    body = partial(cls, self.size, scale=2.0)
    self.a = body()
  def __call__(self, x):
    return self.a(x)

class FlagAtCall(nn.Module):
  size: int = 3
  @nn.compact
  def __call__(self, x, train: bool = False):
    x = partial(nn.Dense, self.size, use_bias=False)()(x)
    return partial(nn.BatchNorm, momentum=0.5)(use_running_average=not train)(x)

class RematLayer(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(2)(nn.remat(nn.LayerNorm)(epsilon=0.5)(x))

class RematFixed(nn.Module):
  @nn.compact
  def __call__(self, x):
    x = nn.remat(nn.BatchNorm)(use_running_average=True)(x)
    return nn.remat(nn.Dropout)(0.5, deterministic=True)(x)

class RematsInSetup(nn.Module):
  def setup(self):
    self.n = nn.remat(nn.LayerNorm, prevent_cse=False)(epsilon=0.5)
    self.g = nn.remat(partial(nn.RMSNorm, epsilon=0.5))()
  def __call__(self, x):
    return self.g(self.n(x))

class MappedNorm(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.vmap(nn.LayerNorm, variable_axes={"params": 0}, split_rngs={"params": True}, in_axes=1, out_axes=1)(epsilon=0.5)(x)

class RematAttention(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.remat(nn.MultiHeadDotProductAttention)(num_heads=2)(x, x)

class OfField(nn.Module):
  norm: Any = nn.LayerNorm
  @nn.compact
  def __call__(self, x):
    norm = functools.partial(self.norm, name='own')
    x = norm()(x)
    norm = functools.partial(self.norm, epsilon=0.5)
    return norm()(norm(name="q")(x))

class OfFields(nn.Module):
  @nn.compact
  def __call__(self, x):
    return OfField()(OfField(nn.RMSNorm)(x))

class SizeChanged(nn.Module):
  @nn.compact
  def __call__(self, x):
    width = x.shape[-1]
    make = nn.remat(functools.partial(nn.Dense, width))
    width = width + 1
    return nn.Dense(width)(make()(x))

CASES = [
  *[(name, {}, [(2, 3)], {}) for name in (
    "Layer", "Class", "Chosen", "Overridden", "Looped", "InSetup", "MaybeRemat",
    "FieldName", "RematOfPartial", "CalledAtOnce", "Scanned", "Flagged", "Formatted", "FromFunction",
    "Unpacked", "PartialOfRemat", "Aliases", "NormAtOnce", "ClassAtOnce", "RematNorm", "NormInSetup",
    "RematNormNamed", "RematTwice", "RematInSetup", "FlagAtCall", "RematLayer", "RematFixed", "RematsInSetup",
  )],
  *[(name, {}, [(2, 3)], {}) for name in ("OfField", "OfFields", "SizeChanged")],
  ("Chosen", {"flag": False}, [(2, 3)], {}),
  ("MaybeRemat", {"remat": False}, [(2, 3)], {}),
  ("PartialOfRemat", {"remat": False}, [(2, 3)], {}),
  ("Flagged", {}, [(2, 3)], {"train": True}),
  ("FlagAtCall", {}, [(2, 3)], {"train": True}),
  ("MappedNorm", {}, [(2, 3, 4)], {}),
  ("RematAttention", {}, [(2, 3, 4)], {}),
]
