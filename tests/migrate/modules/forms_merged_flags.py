"""Flags that a class of the project takes by a field or at the call, merged with `merge_param`."""

from typing import Any
import flax.linen as nn
from flax.linen import merge_param
import jax
import jax.numpy as jnp


class Norm(nn.Module):
  use_running_average: bool | None = None
  momentum: float = 0.9

  @nn.compact
  def __call__(self, x, use_running_average: bool | None = None):
    use_running_average = merge_param("use_running_average", self.use_running_average, use_running_average)
    mean = self.variable("batch_stats", "mean", lambda s: jnp.zeros(s), (x.shape[-1],))
    scale = self.param("scale", nn.initializers.ones, (x.shape[-1],))
    if use_running_average:
      now = mean.value
    else:
      now = x.mean(tuple(range(x.ndim - 1)))
      if not self.is_initializing():
        mean.value = self.momentum * mean.value + (1 - self.momentum) * now
    return (x - now) * scale


class Drop(nn.Module):
  rate: float
  deterministic: bool | None = None

  @nn.compact
  def __call__(self, x, deterministic: bool | None = None):
    deterministic = nn.merge_param("deterministic", self.deterministic, deterministic)
    return nn.Dense(4)(nn.Dropout(self.rate)(x, deterministic=deterministic))


class Net(nn.Module):
  @nn.compact
  def __call__(self, x, train: bool = False):
    x = Norm(use_running_average=not train)(nn.Dense(5)(x))
    x = Drop(0.0, not train)(x)
    for _ in range(2):
      x = Norm(use_running_average=not train, momentum=0.5)(nn.relu(x))
    x = Norm(True)(x)
    return Norm()(x, not train)


class Asked(nn.Module):
  rate: float = 0.0
  deterministic: bool | None = None
  @nn.compact
  def __call__(self, x, deterministic: bool | None = None):
    sure = nn.merge_param("deterministic", self.deterministic, deterministic) if self.rate > 0.0 else True
    y = nn.Dense(4)(x)
    return y if sure else nn.tanh(y)


class Twice(nn.Module):
  """A flag that the constructor and the call are given: `merge_param` would refuse it, and is not asked."""
  @nn.compact
  def __call__(self, x, train: bool = True, deterministic: bool = True):
    x = Asked(deterministic=deterministic, name="first")(x, deterministic=deterministic)
    return Asked(0.0, deterministic)(x)


class Attend(nn.Module):
  features: int
  deterministic: bool | None = None
  @nn.compact
  def __call__(self, q, k, deterministic: bool | None = None):
    m = merge_param("deterministic", self.deterministic, deterministic)
    y = nn.Dense(self.features)(q) * nn.Dense(self.features)(k)
    return y if m else jnp.tanh(y)
class SelfAttend(Attend):
  @nn.compact
  def __call__(self, x, deterministic: bool | None = None):
    return super().__call__(x, x, deterministic=deterministic)
class Handed(nn.Module):
  @nn.compact
  def __call__(self, x, train: bool = False):
    x = SelfAttend(4, deterministic=not train)(x)
    return Attend(5, deterministic=not train)(x, x)


CASES = [
  ("Net", {}, [(2, 3)], {}),
  ("Net", {}, [(2, 3)], {"train": True}),
  ("Twice", {}, [(2, 3)], {}),
  ("Twice", {}, [(2, 3)], {"deterministic": False}),
  ("Handed", {}, [(2, 3)], {}),
  ("Handed", {}, [(2, 3)], {"train": True}),
]
