"""Layers of one class on the way that a field leaves early, and in loops of the other way; `CASES` as in forms_basic."""

from collections.abc import Sequence

from flax import linen as nn


def dense(x, size):
    return nn.Dense(size)(x)


class Returned(nn.Module):
    sizes: Sequence[int] = (4, 4)
    short: bool = False

    @nn.compact
    def __call__(self, x):
        if self.short:
            return nn.Dense(4)(x)
        for size in self.sizes:
            x = nn.Dense(size)(x)
        return nn.Dense(4)(x)


class OtherSide(nn.Module):
    sizes: Sequence[int] = (4, 4)
    short: bool = False

    @nn.compact
    def __call__(self, x):
        if self.short:
            x = nn.Dense(4)(x)
        else:
            for size in self.sizes:
                x = nn.Dense(size)(x)
        return x


class LoopFirst(nn.Module):
    sizes: Sequence[int] = (4, 4)
    short: bool = False

    @nn.compact
    def __call__(self, x):
        if self.short:
            for size in self.sizes:
                x = nn.Dense(size)(x)
            return x
        x = nn.Dense(4)(x)
        return nn.Dense(4)(x)


class LoopOfTheFirstSide(nn.Module):
    sizes: Sequence[int] = (4, 4)
    short: bool = False

    @nn.compact
    def __call__(self, x):
        if not self.short:
            for size in self.sizes:
                x = nn.Dense(size)(x)
        else:
            x = nn.Dense(4)(x)
            x = nn.Dense(4)(x)
        return x


class ByHelper(nn.Module):
    sizes: Sequence[int] = (4, 4)
    short: bool = False

    @nn.compact
    def __call__(self, x):
        if self.short:
            return dense(x, 4)
        for size in self.sizes:
            x = dense(x, size)
        return dense(x, 4)


class ByMethod(nn.Module):
    sizes: Sequence[int] = (4, 4)
    short: bool = False

    def one(self, x, size):
        return nn.Dense(size)(x)

    @nn.compact
    def __call__(self, x):
        if self.short:
            return self.one(x, 4)
        for size in self.sizes:
            x = self.one(x, size)
        return self.one(x, 4)


class SameSide(nn.Module):
    """All of them on one side: numbered by the loop's own counter."""

    sizes: Sequence[int] = (4, 4)
    short: bool = False

    @nn.compact
    def __call__(self, x):
        if self.short:
            return x
        x = nn.Dense(5)(x)
        for size in self.sizes:
            x = nn.Dense(size)(x)
        return nn.Dense(4)(x)


NAMES = ["Returned", "OtherSide", "LoopFirst", "LoopOfTheFirstSide", "ByHelper", "ByMethod", "SameSide"]
CASES = [(name, {"short": short}, [(2, 5, 4)], {}) for name in NAMES for short in (True, False)]
