"""Fields that nothing reads as `self.field`: a decorator, a function or the caller asks for them in another way."""

import functools
from typing import Any

from flax import linen as nn


def scaled_if_asked(call):
  @functools.wraps(call)
  def wrapped(self, x):
    if not hasattr(self, "by_decorator"):
      return call(self, x)
    return call(self, x) * self.by_decorator
  return wrapped


def scaled(module, x):
  return x * getattr(module, "by_function", 1.0)


class Decorated(nn.Module):
  by_decorator: float = 3.0
  @scaled_if_asked
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4)(x)


class HandedOn(nn.Module):
  by_function: float = 3.0
  @nn.compact
  def __call__(self, x):
    return scaled(self, nn.Dense(4)(x))


class Whole(nn.Module):
  by_vars: float = 3.0
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4)(x) * vars(self).get("by_vars", 1.0)


class OwnDict(nn.Module):
  by_dict: float = 3.0
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4)(x) * self.__dict__.get("by_dict", 1.0)


class HasIt(nn.Module):
  by_test: float = 3.0
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4)(x) * (3.0 if hasattr(self, "by_test") else 1.0)


class Inner(nn.Module):
  by_caller: float = 3.0
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4)(x)


class Caller(nn.Module):
  def setup(self):
    self.inner = Inner(2.0)
  def __call__(self, x):
    return self.inner(x) * getattr(self.inner, "by_caller", 1.0)


class Printed(nn.Module):
  by_text: float = 3.0
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4)(x) * len(repr(self).split("by_text"))


NAMES = ("Decorated", "HandedOn", "Whole", "OwnDict", "HasIt", "Caller", "Printed")
CASES: list[Any] = [(name, {}, [(2, 4)], {}) for name in NAMES]
