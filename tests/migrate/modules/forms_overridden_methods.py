"""Methods that say what a compact method makes, and classes that say it otherwise; `CASES` as in forms_basic."""

import jax.numpy as jnp
from flax import linen as nn


class Scale(nn.Module):
  factor: float = 1.0

  @nn.compact
  def __call__(self, x):
    return x * self.param("scale", nn.initializers.normal(1.0), (x.shape[-1],)) * self.factor


class Shift(nn.Module):
  @nn.compact
  def __call__(self, x):
    return x + self.param("shift", nn.initializers.normal(1.0), (x.shape[-1],))


class Widths(nn.Module):
  """A width by a method of its own."""

  def width(self):
    return 4

  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.width())(x)


class Wider(Widths):
  def width(self):
    return 8


class AsWide(Widths):
  def other(self):
    return 3


class Between(Widths):
  pass


class WiderBelow(Between):
  def width(self):
    return 6


class BelowAll(WiderBelow):
  pass


class Doubled(nn.Module):
  """What the layer is given is computed by a method."""

  factor: float = 2.0

  def prepare(self, x):
    return jnp.concatenate([x, x * self.factor], -1)

  @nn.compact
  def __call__(self, x):
    return nn.Dense(4)(self.prepare(x))


class Tripled(Doubled):
  def prepare(self, x):
    return jnp.concatenate([x, x, x * self.factor], -1)


class CutBefore(Doubled):
  def __call__(self, x):
    return super().__call__(x[..., :2])


class Weighted(nn.Module):
  def shape(self):
    return (3,)

  @nn.compact
  def __call__(self, x):
    return x + self.param("weight", nn.initializers.normal(1.0), self.shape())


class WeightedByOne(Weighted):
  def shape(self):
    return (1,)


class Normed(nn.Module):
  """A class that a method gives."""

  def norm(self):
    return Scale

  @nn.compact
  def __call__(self, x):
    return self.norm()(name="scaled")(nn.Dense(4)(x))


class NormedOtherwise(Normed):
  def norm(self):
    return Shift


class NormedByNames(nn.Module):
  """It stands under a name, is made twice, and once under remat."""

  def layer(self):
    return Scale

  @nn.compact
  def __call__(self, x):
    Layer = self.layer()
    x = Layer(name="first")(x)
    Remat = nn.remat(Layer)
    for i in range(2):
      x = Remat(name=f"remat_{i}")(x)
    return Layer(0.5)(x)


class DenseOfMethod(nn.Module):
  """A layer of Linen's."""

  def layer(self):
    return nn.Dense

  @nn.compact
  def __call__(self, x):
    return self.layer()(8, name="dense")(x)


class NormOfSetup(nn.Module):
  def norm(self):
    return Scale

  def setup(self):
    self.first = self.norm()()

  def __call__(self, x):
    return self.first(x)


CASES = [
    (name, {}, [(2, 3)], {})
    for name in (
        *("Widths", "Wider", "AsWide", "Between", "WiderBelow", "BelowAll", "Doubled", "Tripled", "CutBefore", "Weighted"),
        *("WeightedByOne", "Normed", "NormedOtherwise", "NormedByNames", "DenseOfMethod", "NormOfSetup"),
    )
]
