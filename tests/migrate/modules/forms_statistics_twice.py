"""Modules with batch statistics that are called twice under one flag, or once under either; `CASES` as in forms_basic."""

from flax import linen as nn


class Part(nn.Module):
  @nn.compact
  def __call__(self, x, train):
    return nn.BatchNorm(use_running_average=not train, momentum=0.5)(nn.Dense(3)(x))


class OneFlag(nn.Module):
  @nn.compact
  def __call__(self, x, y, train=True):
    p = Part()
    return p(x, train) + p(y, train)


class EitherFlag(nn.Module):
  @nn.compact
  def __call__(self, x, train=True):
    p = Part()
    if train:
      return p(x, True)
    else:
      return p(x, False)


class NormTwice(nn.Module):
  @nn.compact
  def __call__(self, x, y, train: bool = False):
    norm = nn.BatchNorm(use_running_average=not train)
    return norm(x) + norm(y)

CASES = [
    ("OneFlag", {}, [(4, 3), (4, 3)], {}),
    ("OneFlag", {}, [(4, 3), (4, 3)], {"train": False}),
    ("EitherFlag", {}, [(4, 3)], {}),
    ("EitherFlag", {}, [(4, 3)], {"train": False}),
    ("NormTwice", {}, [(4, 3), (4, 3)], {"train": True}),
]
