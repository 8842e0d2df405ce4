"""Sizes that modules are given at their calls, with which Linen makes their parameters."""

import flax.linen as nn


class Proj(nn.Module):
  @nn.compact
  def __call__(self, x, features: int):
    return nn.Dense(features)(x)


class Noisy(nn.Module):
  @nn.compact
  def __call__(self, x, features: int, bias: bool = True):
    w = self.param('w', nn.initializers.ones, (x.shape[-1], features))
    y = x @ w
    if bias:
      y = y + self.param('b', nn.initializers.zeros, (features,))
    return y


class Router(nn.Module):
  @nn.compact
  def __call__(self, x, num_experts: int):
    return nn.softmax(nn.Dense(num_experts, name='w')(x))


class Sub(Proj):
  pass


class Up(nn.Module):
  @nn.compact
  def __call__(self, x, heads: int, dim: int):
    y = nn.Dense(heads * dim)(x)
    return y.reshape(*x.shape[:-1], heads, dim)


class SameNumberTwice(nn.Module):
  def setup(self):
    self.p = Proj()
  def __call__(self, x):
    return self.p(x, 4) + self.p(x, 4)


class InALoop(nn.Module):
  ws: tuple = (3, 4)
  @nn.compact
  def __call__(self, x):
    for w in self.ws:
      x = Proj()(x, w)
    return Proj(name='last')(x, 2)


class OfASubclass(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Sub()(x, 3)


class InAShape(nn.Module):
  h: int = 2
  @nn.compact
  def __call__(self, x):
    y = Up()(x, self.h, dim=3)
    return nn.Dense(2)(y)


class HandedOn(nn.Module):
  @nn.compact
  def __call__(self, x, out: int):
    return Proj()(nn.relu(Proj()(x, out * 2)), out)


class AroundHandedOn(nn.Module):
  @nn.compact
  def __call__(self, x):
    return HandedOn()(x, x.shape[-1])


class WidthOfAnother(nn.Module):
  @nn.compact
  def __call__(self, x, y):
    return Proj()(x, y.shape[-1]) + y


class UnderRemat(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.remat(Proj, static_argnums=(2,))()(x, 4)


class TwoOfThem(nn.Module):
  n: int = 4
  @nn.compact
  def __call__(self, x):
    x = nn.relu(Noisy()(x, features=self.n * 2))
    return Noisy()(x, self.n)


class InSetup(nn.Module):
  e: int = 3
  def setup(self):
    self.router = Router()
  def __call__(self, x):
    p = self.router(x, self.e)
    return p * 2


CASES = [
  ("SameNumberTwice", {}, [(2, 5)], {}),
  ("InALoop", {}, [(2, 5)], {}),
  ("OfASubclass", {}, [(2, 5)], {}),
  ("InAShape", {}, [(2, 5)], {}),
  ("AroundHandedOn", {}, [(2, 5)], {}),
  ("WidthOfAnother", {}, [(2, 5), (2, 3)], {}),
  ("UnderRemat", {}, [(2, 5)], {}),
  ("TwoOfThem", {}, [(2, 5)], {}),
  ("InSetup", {}, [(2, 5)], {}),
]
