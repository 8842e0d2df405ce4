"""Helpers of a base that make layers, variables or draws for derived classes alone, of fields that only these have."""

import dataclasses

import jax.numpy as jnp
from flax import linen as nn


@dataclasses.dataclass(frozen=True)
class Scaling:
  smoothing: float = 0.5
  learned: bool = False


class Frontend(nn.Module):
  features: int

  def _magnitude(self, x):
    config = self.scaling
    if isinstance(config, Scaling):
      options = dataclasses.asdict(config)
      if options.pop("learned"):
        first = jnp.ones((self.features,)) * config.smoothing
        smoothing = self.param("smoothing", lambda _: first)
        options["smoothing"] = jnp.clip(smoothing, 0, 1)
      x = x * options["smoothing"]
    return x


class Window(Frontend):
  scaling: Scaling | None = None

  @nn.compact
  def __call__(self, x):
    return self._magnitude(jnp.tanh(x[..., : self.features]))


class Learned(Frontend):
  kernel: int = 3
  scaling: Scaling | None = None

  @nn.compact
  def __call__(self, x):
    return self._magnitude(nn.Dense(self.features)(x)) * self.kernel


class Plain(Frontend):
  """It needs the helper as little as its fields."""

  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.features)(x)


class Both(nn.Module):
  @nn.compact
  def __call__(self, x):
    x = Window(3, Scaling(0.3, True))(x) + Learned(3, scaling=Scaling())(x)
    return Plain(2)(Window(3)(x))


class Head(nn.Module):
  """A base with a call of its own, and a helper that makes layers, a variable and numbers."""

  width: int

  @nn.compact
  def __call__(self, x):
    return nn.LayerNorm()(x)

  def _out(self, x, train):
    seen = self.variable("counts", "seen", lambda: jnp.zeros(()))
    if train:
      seen.value = seen.value + 1
    x = nn.Dropout(0.0, deterministic=not train)(x)
    return nn.Dense(self.width, name="out")(x) * self.param("gain", nn.initializers.normal(), (x.shape[-1],)).sum()


class Twice(Head):
  @nn.compact
  def __call__(self, x, train: bool = False):
    x = super().__call__(x)
    return self._out(nn.Dense(4, name="inner")(x), train)


class Below(Twice):
  more: int = 2

  def _again(self, x):
    return x * self.param("again", nn.initializers.normal(), (self.more,)).sum()


class Lowest(Below):
  @nn.compact
  def __call__(self, x, train: bool = False):
    return self._again(self._out(x, train))


class Base(nn.Module):
  """It is constructed itself, and makes nothing then."""

  def _scaled(self, x):
    return x * self.param("scale", nn.initializers.normal(), (x.shape[-1],))


class Scaled(Base):
  @nn.compact
  def __call__(self, x):
    return self._scaled(x)


class Unscaled(Base):
  @nn.compact
  def __call__(self, x):
    return 2 * x


class Mixed(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Scaled()(x) + Unscaled()(x)


CASES = [
    ("Window", {"features": 3}, [(2, 4)], {}),
    ("Learned", {"features": 3}, [(2, 4)], {}),
    ("Both", {}, [(2, 4)], {}),
    ("Head", {"width": 3}, [(2, 4)], {}),
    ("Twice", {"width": 3}, [(2, 4)], {}),
    ("Below", {"width": 3}, [(2, 4)], {}),
    ("Lowest", {"width": 3}, [(2, 4)], {}),
    ("Mixed", {}, [(2, 4)], {}),
]
