"""Factories chosen by what a pass of a loop says, in compact methods."""

from collections.abc import Sequence
from functools import partial

from flax import linen as nn


class A(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)


class Gated(nn.Module):
    width: int
    times: int = 2

    @nn.compact
    def __call__(self, x):
        return nn.relu(nn.Dense(self.times * self.width)(x))


class ByName(nn.Module):
    kinds: Sequence[str] = ("plain", "gated", "plain")

    @nn.compact
    def __call__(self, x):
        for kind in self.kinds:
            if kind == "plain":
                cls = A
            else:
                cls = partial(Gated, times=3)
            x = cls(4)(x)
        return nn.Dense(2)(x)


class ByThree(nn.Module):
    kinds: Sequence[str] = ("plain", "gated", "norm", "gated")

    @nn.compact
    def __call__(self, x):
        for i, kind in enumerate(self.kinds):
            if kind == "plain":
                layer = partial(A, 4)
            elif kind in ("gated", "gate"):
                layer = partial(Gated, 2 if i else 3)
            else:
                layer = nn.LayerNorm
            x = layer()(x)
        return nn.Dense(2)(x)


class ByCounter(nn.Module):
    n: int = 4

    @nn.compact
    def __call__(self, x):
        for i in range(self.n):
            Block = A if i % 2 == 0 else Gated
            x = Block(4, name=f"layer_{i}")(x)
        return x


class LastAnother(nn.Module):
    n: int = 4
    wide: int = 2

    @nn.compact
    def __call__(self, x):
        for i in range(self.n):
            Block = A
            if i >= self.wide:
                Block = Gated
            x = x + nn.Dense(x.shape[-1])(Block(4)(x))
        return x


class LiftedBehindTheFirst(nn.Module):
    n: int = 3

    @nn.compact
    def __call__(self, x):
        for i in range(self.n):
            Block = nn.remat(A) if i > 0 else A
            x = Block(x.shape[-1])(x)
        return x


CASES = [
    ("ByName", {}, [(2, 3)], {}),
    ("ByName", {"kinds": ("gated", "gated")}, [(2, 3)], {}),
    ("ByThree", {}, [(2, 3)], {}),
    ("ByThree", {"kinds": ("norm", "plain", "gate")}, [(2, 3)], {}),
    ("ByCounter", {}, [(2, 3)], {}),
    ("LastAnother", {}, [(2, 3)], {}),
    ("LastAnother", {"n": 2}, [(2, 3)], {}),
    ("LiftedBehindTheFirst", {}, [(2, 3)], {}),
]
