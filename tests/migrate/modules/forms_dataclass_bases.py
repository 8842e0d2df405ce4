"""Modules that derive from plain dataclasses, too: these give them fields, properties and methods."""

import dataclasses
from dataclasses import dataclass, fields
from typing import Any

import jax.numpy as jnp
from flax import linen as nn


@dataclass
class Sizes:
    """What all modules of a model are given."""

    layers: int = 2
    dim: int = 8  # the width
    labels: Any = 3
    scale: bool = False
    remat: bool = False

    @property
    def kwargs(self):
        return {f.name: getattr(self, f.name) for f in fields(Sizes)}

    @property
    def hidden(self) -> int:
        return 4 * self.dim

    def scaled(self, x):
        return x * self.dim**-0.5


class FeedForward(Sizes, nn.Module):
    def setup(self):
        self.w1 = nn.Dense(self.hidden)
        self.w2 = nn.Dense(self.dim)
        self.s = 1.0
        if self.scale:
            self.s = self.param("s", nn.initializers.ones, (self.dim,))

    def __call__(self, x):
        return self.s * self.w2(nn.gelu(self.scaled(self.w1(x))))


class Net(Sizes, nn.Module):
    """A stack."""

    drop: float = 0.0

    def setup(self):
        layer = nn.remat(FeedForward) if self.remat else FeedForward
        self.layer = [layer(**self.kwargs) for _ in range(self.layers)]
        self.head = nn.Dense(self.labels) if self.labels is not None else None

    def __call__(self, x):
        for layer in self.layer:
            x = x + layer(x)
        return x if self.head is None else self.head(x)


@dataclasses.dataclass
class Widths:
    first: int
    second: int = 4


@dataclasses.dataclass
class Biases:
    use_bias: bool


class Both(Widths, Biases, nn.Module):
    third: int = 2

    @nn.compact
    def __call__(self, x):
        for width in (self.first, self.second, self.third):
            x = nn.Dense(width, use_bias=self.use_bias)(x)
        return x


class Made(nn.Module):
    @nn.compact
    def __call__(self, x):
        return jnp.sum(Both(True, 3, 5, third=6)(x), -1)


CASES: list[Any] = [
    ("FeedForward", {}, [(2, 8)], {}),
    ("FeedForward", {"dim": 4, "scale": True}, [(2, 4)], {}),
    ("Net", {}, [(2, 8)], {}),
    ("Net", {"layers": 3, "labels": None, "scale": True, "remat": True}, [(2, 8)], {}),
    ("Both", {"use_bias": False, "first": 3}, [(2, 4)], {}),
    ("Made", {}, [(2, 4)], {}),
]
