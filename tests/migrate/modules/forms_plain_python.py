"""Python that assigns, catches and defines in ways of its own; `CASES` as in forms_basic."""
import dataclasses
import functools
from flax import linen as nn

size = 11

class DoubledAtTimes(nn.Module):
  n: int = 4
  @nn.compact
  def __call__(self, x):
    width = 4
    for i in range(self.n):
      x = nn.Dense(width)(x)
      if i % 2:
        width *= 2
    return nn.Dense(width)(x)

class MadeDefault(nn.Module):
  sizes: list = dataclasses.field(default_factory=lambda: [3, 4])
  @nn.compact
  def __call__(self, x):
    for n in self.sizes:
      x = nn.Dense(n)(x)
    return x

class OwnDefault(nn.Module):
  width: int = 5
  @nn.compact
  def __call__(self, x):
    size = self.width
    def dense(y, n=size):
      return nn.Dense(n * 2)(y)
    return dense(x)

class ModuleDefault(nn.Module):
  @nn.compact
  def __call__(self, x):
    def dense(y, n=size):
      return nn.Dense(n)(y)
    return dense(x)

class TriedAndRaised(nn.Module):
  width: int = 2
  @nn.compact
  def __call__(self, x):
    try:
      n = self.width
      x = nn.Dense(n)(x)
    except ValueError as error:
      raise RuntimeError('no width') from error
    else:
      n = 6
    finally:
      last = 3
    return nn.Dense(last)(nn.Dense(n)(x))

class Copied(nn.Module):
  @nn.compact
  def __call__(self, x):
    base = {'use_bias': True}
    own = dict(base)
    own['use_bias'] = False
    sizes = [4, 5]
    others = list(sizes)
    others.append(6)
    for n in sizes:
      x = nn.Dense(n)(x)
    return nn.Dense(3, **base)(nn.Dense(4, **own)(x))

class GrownTuple(nn.Module):
  @nn.compact
  def __call__(self, x):
    sizes = (4, 5)
    more = sizes
    more += (6,)
    for n in sizes:
      x = nn.Dense(n)(x)
    return x

CASES = [(n, {}, [(2, 8)], {}) for n in
         'DoubledAtTimes MadeDefault OwnDefault ModuleDefault TriedAndRaised Copied GrownTuple'.split()]
CASES += [('MadeDefault', {'sizes': [2]}, [(2, 8)], {})]
