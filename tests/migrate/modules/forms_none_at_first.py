"""What is None in the first pass of a loop, given to modules whose parts depend on whether it is there."""

from __future__ import annotations

import jax.numpy as jnp
from flax import linen as nn


class Mixed(nn.Module):
    heads: int = 6
    use: bool = True

    @nn.compact
    def __call__(self, x, bias=None):
        if self.use and bias is not None:
            x = x + nn.Dense(6)(bias)
        return x, nn.Dense(self.heads, name="bias")(x)


class Outer(nn.Module):
    heads: int = 6

    @nn.compact
    def __call__(self, x, memory):
        return Mixed(self.heads)(nn.Dense(6)(x), memory)


class Literal(nn.Module):
    def setup(self):
        self.blocks = [Mixed(6), Outer(6), Mixed(6, use=False)]

    def __call__(self, x):
        held = None
        for block in self.blocks:
            x, held = block(x, held)
        return x


class Counted(nn.Module):
    depth: int = 3

    def setup(self):
        self.blocks = [Outer(6) for _ in range(self.depth)]

    def __call__(self, x):
        held = None
        for i, block in enumerate(self.blocks):
            x, held = block(x, memory=held)
        return x


class Inline(nn.Module):
    depth: int = 3

    @nn.compact
    def __call__(self, x):
        held = None
        for i in range(self.depth):
            x, held = nn.remat(Mixed)(6, name=f"b{i}")(x, held)
        return x


class Reset(nn.Module):
    depth: int = 3

    @nn.compact
    def __call__(self, x):
        held = None
        for i in range(self.depth):
            x, new = Outer()(x, held)
            if i == 1:
                held = new
        return x


class Nested(nn.Module):
    @nn.compact
    def __call__(self, x):
        held = None
        for _ in range(2):
            for _ in range(2):
                x, held = Outer()(x, held)
        return x


class T5(nn.Module):
    heads: int
    has: bool = False

    def setup(self):
        self.mix = nn.Dense(self.heads)
        if self.has:
            self.table = nn.Dense(self.heads)

    def __call__(self, x, bias=None):
        if bias is None:
            bias = self.table(x) if self.has else jnp.zeros_like(x)
        return self.mix(x) + bias, bias


class Stack(nn.Module):
    depth: int = 3

    def setup(self):
        self.blocks = [T5(6, has=i == 0) for i in range(self.depth)]

    def __call__(self, x):
        held = None
        for block in self.blocks:
            out = block(x, bias=held)
            x = out[0]
            held = out[1]
        return x


class Lazy(nn.Module):
    def setup(self):
        self.table = nn.Dense(6)
        self.mix = nn.Dense(6)

    def __call__(self, x, bias=None):
        if bias is None:
            bias = self.table(x)
        return self.mix(x) + bias, bias


class LazyStack(nn.Module):
    depth: int = 3

    def setup(self):
        self.blocks = [Lazy() for i in range(self.depth)]

    def __call__(self, x):
        held = None
        for block in self.blocks:
            x, held = block(x, held)
        return x


class Sampled(nn.Module):
    depth: int = 3

    def setup(self):
        self.blocks = [Outer(6) for _ in range(self.depth)]

    def __call__(self, x):
        held = None
        for block in self.blocks:
            x, held = block(x, held)
        return x

    def sample(self, count):
        return self.__call__(jnp.ones((count, 6)))


class Skipped(nn.Module):
    depth: int = 2

    def setup(self):
        self.down = [Outer(6) for i in range(self.depth)]
        self.up = [Outer(6) for i in range(self.depth)]

    def __call__(self, x):
        held = None
        for block in self.down:
            x, held = block(x, held)
        for block in self.up:
            x, held = block(x, held)
        return x


class Biased(nn.Module):
    heads: int

    @nn.compact
    def __call__(self, x, bias=None):
        if bias is None:
            bias = nn.Dense(self.heads, name="bias")(x)
        return nn.Dense(self.heads, name="mix")(x) + bias, bias


class Sharing(nn.Module):
    heads: int = 6
    depth: int = 3

    def setup(self):
        self.blocks = [Biased(self.heads) for i in range(self.depth)]

    def __call__(self, x):
        bias = None
        for block in self.blocks:
            out = block(x, bias)
            x, bias = out[0], out[1]
        return x


class Compact(nn.Module):
    heads: int = 6
    depth: int = 3

    @nn.compact
    def __call__(self, x):
        bias = None
        for i in range(self.depth):
            x, bias = Biased(self.heads)(x, bias)
        return x


class Same(nn.Module):
    heads: int = 6
    depth: int = 3

    def setup(self):
        self.block = Biased(self.heads)

    def __call__(self, x):
        bias = None
        for i in range(self.depth):
            x, bias = self.block(x, bias)
        return x


class SameMixed(nn.Module):
    heads: int = 6
    depth: int = 3

    def setup(self):
        self.block = Mixed(self.heads)

    def __call__(self, x):
        bias = None
        for i in range(self.depth):
            x, bias = self.block(x, bias)
        return x


CASES = [
    ("Skipped", {}, [(2, 6)], {}),
    ("Sampled", {}, [(2, 6)], {}),
    ("Literal", {}, [(2, 6)], {}),
    ("Counted", {}, [(2, 6)], {}),
    ("Counted", {"depth": 1}, [(2, 6)], {}),
    ("Inline", {}, [(2, 6)], {}),
    ("Reset", {}, [(2, 6)], {}),
    ("Nested", {}, [(2, 6)], {}),
    ("Stack", {}, [(2, 6)], {}),
    ("LazyStack", {}, [(2, 6)], {}),
    ("Sharing", {}, [(2, 6)], {}),
    ("Compact", {}, [(2, 6)], {}),
    ("Same", {}, [(2, 6)], {}),
    ("Outer", {}, [(2, 6), (2, 4)], {}),
    ("Outer", {}, [(2, 6)], {"memory": None}),
]
