"""Groups of blocks that a function within the call makes, several times, for a class that calls them in turn; `CASES` as in
forms_basic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flax import linen as nn


class InTurn(nn.Module):
    layers: Sequence[nn.Module]

    @nn.compact
    def __call__(self, x, *, train=False):
        for layer in self.layers:
            x = layer(x, train=train)
        return x


class Block(nn.Module):
    before: int
    after: int
    zero: bool = False

    @nn.compact
    def __call__(self, x, *, train=False):
        start = nn.initializers.zeros if self.zero else nn.initializers.ones
        h = nn.Dense(self.after, name="dense")(x)
        h = nn.BatchNorm(use_running_average=not train, scale_init=start)(h)
        if self.before != self.after:
            x = nn.Dense(self.after, name="skip")(x)
        return x + h


class Groups(nn.Module):
    zero: bool = False

    @nn.compact
    def __call__(self, x, *, train=False):
        def group(before, after, blocks):
            layers = []
            layers.append(Block(before, after, zero=self.zero))
            for _ in range(1, blocks):
                layers.append(Block(after, after, zero=self.zero))
            return InTurn(layers)

        x = group(4, 4, 2)(x, train=train)
        x = group(4, 8, 6)(x, train=train)
        x = group(8, 5, 1)(x, train=train)
        return nn.Dense(3)(x)


class Lists(nn.Module):
    @nn.compact
    def __call__(self, x, *, train=False):
        def group(before, after, blocks):
            layers = [Block(before, after)]
            for _ in range(blocks - 1):
                layers.append(Block(after, after, zero=True))
            return layers

        for layer in group(4, 6, 3):
            x = layer(x, train=train)
        for layer in group(6, 5, 2):
            x = layer(x, train=train)
        return x


class Named(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, *, train=False):
        x = nn.Dense(self.width)(x)
        return x * 2.0 if self.name == "Named_1" else x + len(self.name)


class NamedGroups(nn.Module):
    """What a compact method makes has the method's name for it, whatever it is handed to."""

    @nn.compact
    def __call__(self, x, *, train=False):
        def group(width, blocks):
            layers = [Named(width)]
            for _ in range(1, blocks):
                layers.append(Named(width))
            return InTurn(layers)

        x = group(4, 2)(x, train=train)
        return group(5, 3)(x, train=train)


CASES: list[Any] = [
    ("Groups", {}, [(2, 4)], {}),
    ("Groups", {"zero": True}, [(2, 4)], {"train": False}),
    ("Lists", {}, [(2, 4)], {}),
    ("NamedGroups", {}, [(2, 4)], {}),
]
