"""Fields that hold a lambda which makes a layer, and fields that are given a factory after they were left out."""

import functools
from collections.abc import Callable
from typing import Any

from flax import linen as nn

EPS = 1e-3


class Block(nn.Module):
    width: int
    bias: bool = True

    @nn.compact
    def __call__(self, x):
        return nn.relu(nn.Dense(self.width, use_bias=self.bias)(x))


class ByDefault(nn.Module):
    norm: Callable = lambda: nn.LayerNorm(epsilon=EPS)
    block: Callable = lambda: Block(4, bias=False)

    @nn.compact
    def __call__(self, x):
        x = self.norm()(self.block()(x))
        return self.norm()(nn.Dense(3)(x))


class WithAnInitializer(nn.Module):
    head: Callable = lambda: nn.Dense(2, bias_init=nn.initializers.constant(0.5))

    @nn.compact
    def __call__(self, x):
        return self.head()(nn.relu(x))


class OfSetup(nn.Module):
    norm: Callable = lambda: nn.GroupNorm(num_groups=2)

    def setup(self):
        self.layers = [nn.Dense(4) for _ in range(2)]
        self.norms = [self.norm() for _ in range(2)]

    def __call__(self, x):
        for layer, norm in zip(self.layers, self.norms):
            x = norm(layer(x))
        return x


class Optional(nn.Module):
    norm: Any = None

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(4)(x)
        if self.norm is not None:
            x = self.norm()(x)
        return x


class Given(nn.Module):
    eps: float = 1e-2

    @nn.compact
    def __call__(self, x):
        x = Optional()(x)
        x = Optional(norm=lambda: nn.LayerNorm(epsilon=self.eps))(x)
        x = Optional(norm=functools.partial(nn.GroupNorm, num_groups=2))(x)
        return Optional(lambda: nn.LayerNorm())(x)


class Inner(nn.Module):
    make: Any = None

    @nn.compact
    def __call__(self, x):
        return x if self.make is None else self.make(2)(x)


class Outer(nn.Module):
    make: Any = None

    @nn.compact
    def __call__(self, x):
        x = Inner()(x)
        return Inner(make=self.make)(x)


class GivenFurtherOn(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = Outer()(x)
        return Outer(make=functools.partial(Block, bias=False))(x)


class Functions(nn.Module):
    """Lambdas that make no layers stay what they are."""

    act: Callable = lambda x: 2 * x
    start: Callable = lambda: nn.initializers.ones

    @nn.compact
    def __call__(self, x):
        return self.act(nn.Dense(4, bias_init=self.start())(x))


CASES = [
    ("ByDefault", {}, [(2, 3)], {}),
    ("WithAnInitializer", {}, [(2, 3)], {}),
    ("OfSetup", {}, [(2, 3)], {}),
    ("Given", {}, [(2, 3)], {}),
    ("GivenFurtherOn", {}, [(2, 3)], {}),
    ("Functions", {}, [(2, 3)], {}),
]
