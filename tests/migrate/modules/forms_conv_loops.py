"""Loops over modules that say how many dimensions their inputs have; `CASES` as in forms_basic."""
import flax.linen as nn

class Block(nn.Module):
  features: int
  @nn.compact
  def __call__(self, inputs):
    return nn.relu(nn.Conv(self.features, (3, 3))(inputs))

class Stack(nn.Module):
  n: int
  features: int
  @nn.compact
  def __call__(self, x):
    for _ in range(self.n):
      x = Block(self.features)(x)
    return nn.Dense(2)(x)

class Unit(nn.Module):   # a projection where the sizes differ
  features: int
  strides: tuple = (1, 1)
  @nn.compact
  def __call__(self, x):
    residual = x
    project = x.shape[-1] != self.features * 4 or self.strides != (1, 1)
    if project:
      residual = nn.Conv(self.features * 4, (1, 1), strides=self.strides, name='proj')(residual)
    y = nn.Conv(self.features, (1, 1))(x)
    y = nn.Conv(self.features * 4, (3, 3), strides=self.strides)(nn.relu(y))
    return nn.relu(residual + y)

class Stage(nn.Module):
  n: int
  features: int
  first: tuple
  @nn.compact
  def __call__(self, x):
    x = Unit(self.features, strides=self.first, name='unit1')(x)
    for i in range(1, self.n):
      x = Unit(self.features, strides=(1, 1), name=f'unit{i + 1}')(x)
    return x

CASES = [('Stack', dict(n=2, features=3), [(1, 4, 4, 2)], {}), ('Stage', dict(n=3, features=2, first=(2, 2)), [(1, 4, 4, 2)], {})]
