"""Modules under nn.remat and nn.jit whose sizes no code shows: found by the call on shapes, too."""

from typing import Optional

from flax import linen as nn
from numpy.polynomial.chebyshev import chebval

SUM = [0.5, 2.0]


class Block(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, scale=1.0, train=False):
        y = nn.Dense(x.shape[-1])(nn.relu(nn.Dense(self.width)(x)))
        return y * scale if not train else y


class Named(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, *, scale=1.0):
        return nn.Dense(self.width)(x) * scale


class Compact(nn.Module):
    depth: int = 3

    @nn.compact
    def __call__(self, x):
        kind = nn.remat(Block, prevent_cse=False)
        for i in range(self.depth):
            x = kind(4, name=f"block_{i}")(chebval(x, SUM))
        for _ in range(2):
            x = nn.remat(nn.Dense)(5)(chebval(x, SUM))
        return x


class OfSetup(nn.Module):
    depth: int = 2

    def setup(self):
        self.blocks = [nn.remat(Block, static_argnums=(3,))(4) for _ in range(self.depth)]
        self.jitted = [nn.jit(Block)(i + 2) for i in range(self.depth)]
        self.named = [nn.remat(Named)(3) for _ in range(self.depth)]

    def __call__(self, x, train=False):
        for block in self.blocks:
            x = block(chebval(x, SUM), 2.0, train)
        for block in self.jitted:
            x = block(chebval(x, SUM))
        for block in self.named:
            x = block(chebval(x, SUM))
        return x


class Chosen(nn.Module):
    depth: int = 2
    again: bool = True

    @nn.compact
    def __call__(self, x):
        kind = nn.remat(Block) if self.again else Block
        for _ in range(self.depth):
            x = kind(4)(chebval(x, SUM))
        return x


class Given(nn.Module):
    """One that is given an optional array, too."""

    depth: int = 2

    @nn.compact
    def __call__(self, x, mask: Optional[object] = None):
        for _ in range(self.depth):
            x = nn.remat(Masked)(4)(chebval(x, SUM), mask)
        return x


class Masked(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, mask=None):
        y = nn.Dense(self.width)(x)
        return y if mask is None else y * mask


CASES = [
    ("Compact", {}, [(2, 3)], {}),
    ("OfSetup", {}, [(2, 3)], {}),
    ("OfSetup", {}, [(2, 3)], {"train": True}),
    ("Chosen", {}, [(2, 3)], {}),
    ("Chosen", {"again": False}, [(2, 3)], {}),
    ("Given", {}, [(2, 3)], {"mask": None}),
    ("Given", {}, [(2, 3), (2, 1)], {}),
]
