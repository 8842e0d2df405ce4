"""Factories that hold the width of what they make: the module that is made says it."""

import functools
from typing import Any, Callable, Sequence

import jax.numpy as jnp
from flax import linen as nn


class Residual(nn.Module):
    """Two layers of a factory in setup, the second on what the first gives."""

    make: Callable[..., Any]
    norm: bool = False

    def setup(self):
        self.first = self.make()
        self.second = self.make()
        if self.norm:
            self.scale = nn.LayerNorm()

    def __call__(self, x):
        y = nn.relu(self.first(x))
        if self.norm:
            y = self.scale(y)
        return x + self.second(y)


class Groups(nn.Module):
    """Its width is that of a loop's pass."""

    widths: Sequence[int] = (4, 3)
    depths: Sequence[int] = (2, 1)

    @nn.compact
    def __call__(self, x):
        for width, depth in zip(self.widths, self.depths):
            x = nn.Conv(width, (3, 3))(x)
            for _ in range(depth):
                x = Residual(make=functools.partial(nn.Conv, features=width, kernel_size=(3, 3)), norm=True)(x)
        return nn.Dense(2)(x)


class Compact(nn.Module):
    """The same in a compact method, with a layer behind that is the class's own."""

    make: Callable[..., Any]

    @nn.compact
    def __call__(self, x):
        y = self.make(name="one")(x)
        z = nn.Dense(3)(nn.relu(y))
        return nn.LayerNorm()(self.make()(z) + y)


class Fields(nn.Module):
    width: int = 5

    @nn.compact
    def __call__(self, x):
        x = Compact(functools.partial(nn.Dense, self.width))(x)
        return nn.Dense(2)(Compact(make=functools.partial(nn.Dense, 2 * self.width, use_bias=False))(x))


class Repeated(nn.Module):
    """A loop of them, whose first has another input than the rest."""

    make: Callable[..., Any]
    depth: int = 2

    @nn.compact
    def __call__(self, x):
        for _ in range(self.depth):
            x = nn.relu(self.make()(x))
        return nn.Dense(2)(x)


class Sides(nn.Module):
    """Under a condition of the fields, beside another width."""

    make: Callable[..., Any]
    wide: bool = True

    @nn.compact
    def __call__(self, x):
        if self.wide:
            x = self.make()(x)
        else:
            x = nn.Dense(7)(x)
        return nn.Dense(2)(jnp.tanh(x))


class Given(nn.Module):
    width: int = 4
    depth: int = 2

    @nn.compact
    def __call__(self, x):
        x = Repeated(functools.partial(nn.Dense, features=self.width), self.depth)(x)
        x = Repeated(functools.partial(nn.Dense, features=self.width + 1), 3)(x)
        a = Sides(functools.partial(nn.Dense, features=self.width))(x)
        return a + Sides(functools.partial(nn.Dense, features=self.width + 3), wide=False)(x)


class Upwards(nn.Module):
    """A transposed convolution."""

    make: Callable[..., Any]

    def setup(self):
        self.up = self.make(kernel_size=(2, 2), strides=(2, 2))
        self.out = nn.Conv(3, (1, 1))

    def __call__(self, x):
        return self.out(nn.relu(self.up(x)))


class Picture(nn.Module):
    width: int = 4

    @nn.compact
    def __call__(self, x):
        return Upwards(functools.partial(nn.ConvTranspose, features=self.width))(x)


CASES = [
    ("Groups", {}, [(2, 6, 6, 3)], {}),
    ("Groups", {"widths": (2, 5, 3), "depths": (1, 0, 2)}, [(2, 6, 6, 3)], {}),
    ("Fields", {}, [(2, 3)], {}),
    ("Given", {}, [(2, 3)], {}),
    ("Given", {"width": 2, "depth": 0}, [(2, 3)], {}),
    ("Picture", {}, [(2, 4, 4, 3)], {}),
]
