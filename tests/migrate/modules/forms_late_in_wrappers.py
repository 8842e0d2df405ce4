"""Modules that are handed to others, of sizes that no code shows: found by the call on shapes where the holder calls them."""

from typing import Callable

from flax import linen as nn
from numpy.polynomial.chebyshev import chebval

SUM = [0.5, 2.0]


class Block(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, scale=1.0):
        return nn.Dense(x.shape[-1])(nn.Dense(self.width)(x)) * scale


class Around(nn.Module):
    fn: Callable

    @nn.compact
    def __call__(self, x, **kwargs):
        return self.fn(x, **kwargs) + x


class Scaled(nn.Module):
    """Its own sizes are known, and those of what it holds are not."""

    fn: nn.Module
    width: int
    times: int = 2

    def setup(self):
        self.out = nn.Dense(self.width)

    def __call__(self, x):
        for _ in range(self.times):
            x = self.fn(chebval(x, SUM))
        return x


class Compact(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = Around(nn.Dense(3))(chebval(x, SUM))
        x = Around(Block(4))(chebval(x, SUM), scale=2.0)
        return Around(Around(nn.LayerNorm()))(chebval(x, SUM))


class OfSetup(nn.Module):
    def setup(self):
        self.a = Around(nn.Dense(3))
        self.inner = Block(4)
        self.b = Around(fn=self.inner)
        self.c = Scaled(Block(5), 3)

    def __call__(self, x):
        return self.c(chebval(self.b(chebval(self.a(chebval(x, SUM)), SUM)), SUM))


class Listed(nn.Module):
    depth: int = 2

    @nn.compact
    def __call__(self, x):
        layers = []
        for _ in range(self.depth):
            layers.append([Around(Block(4)), Around(nn.Dense(3))])
        for one, other in layers:
            x = one(chebval(x, SUM)) + x
            x = other(chebval(x, SUM)) + x
        return x


class Known(nn.Module):
    """Beside what is known."""

    @nn.compact
    def __call__(self, x):
        y = Around(nn.Dense(x.shape[-1]))(x)
        return Around(Block(2))(chebval(y, SUM)) + nn.Dense(3)(chebval(y, SUM))


class Calls(nn.Module):
    """It is called with what it alone knows."""

    layer: nn.Module

    @nn.compact
    def __call__(self, x):
        return self.layer(chebval(x, SUM)) * 2


class Handed(nn.Module):
    def setup(self):
        self.dense = nn.Dense(3)
        self.inner = Calls(self.dense)
        self.other = Calls(layer=Block(2))

    def __call__(self, x):
        return self.inner(x) + self.other(x)


CASES = [
    ("Handed", {}, [(2, 3)], {}),
    ("Compact", {}, [(2, 3)], {}),
    ("OfSetup", {}, [(2, 3)], {}),
    ("Listed", {}, [(2, 3)], {}),
    ("Known", {}, [(2, 3)], {}),
]
