"""Layers that class methods and static methods of classes that are no modules make for the class that calls them."""

import dataclasses

import jax.numpy as jnp
from flax import linen as nn


class Base:
    SCALE = 2

    @classmethod
    def head(cls, n):
        return nn.Dense(n * cls.SCALE)


class Blocks(Base):
    SCALE = 3

    @staticmethod
    def conv(x, features, act=nn.relu):
        x = nn.Conv(features, (3,))(x)
        return act(x)

    @classmethod
    def block(cls, x, features, name=None):
        x = cls.conv(x, features, act=jnp.tanh)
        y = cls.head(2)(x)
        return nn.LayerNorm(name=name)(y)

    @staticmethod
    def apply(x, layer, n):
        x = nn.Dense(n)(x)
        return layer(n + 1)(x)


@dataclasses.dataclass
class Config:
    width: int = 4

    @staticmethod
    def make(n):
        return nn.Dense(n, use_bias=False)


class ByStaticMethods(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = Blocks.conv(x, 8)
        x = nn.Conv(3, (1,))(x)
        return Blocks.conv(x, 4, nn.gelu)


class ByClassMethods(nn.Module):
    n: int = 2

    @nn.compact
    def __call__(self, x):
        x = Blocks.block(x, self.n)
        x = nn.Dense(5)(x)
        return Blocks.block(x, 2 * self.n, name="last")


class OfABaseInSetup(nn.Module):
    def setup(self):
        self.first = Blocks.head(2)
        self.last = Base.head(2)

    def __call__(self, x):
        return self.last(self.first(x))


class GivenALayer(nn.Module):
    @nn.compact
    def __call__(self, x):
        return Blocks.apply(x, nn.Dense, 4)


class StaticOfAnObject(nn.Module):
    config: Config

    @nn.compact
    def __call__(self, x):
        return self.config.make(self.config.width)(x)


CASES = [
    ("ByClassMethods", {}, [(2, 6, 3)], {}),
    ("ByStaticMethods", {}, [(2, 6, 3)], {}),
    ("OfABaseInSetup", {}, [(2, 3)], {}),
    ("GivenALayer", {}, [(2, 3)], {}),
    ("StaticOfAnObject", {"config": Config()}, [(2, 3)], {}),
]
