"""A field's factory under remat or not, by another field: `nn.remat(self.block) if self.remat else self.block`; `CASES` as
in forms_basic.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax.numpy as jnp
from flax import linen as nn


class Block(nn.Module):
    width: int = 4
    act: Callable = nn.relu

    @nn.compact
    def __call__(self, x):
        return self.act(nn.Dense(self.width)(x))


class Counted(nn.Module):
    block: Any = partial(Block, act=nn.gelu)
    remat: bool = False

    @nn.compact
    def __call__(self, x):
        block = self.block
        if self.remat:
            block = nn.remat(block)
        for _ in range(2):
            x = block(x.shape[-1] + 1)(x)
        return self.block(4)(x) + block(4, name="last")(x)


class Listed(nn.Module):
    block: Any
    remat: bool = False

    def setup(self):
        make = self.block if not self.remat else nn.checkpoint(self.block)
        self.layers = [make(4) for _ in range(2)]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Step(Block):
    @nn.compact
    def __call__(self, x, _):
        return self.act(nn.Dense(self.width)(x)), None


class Scanned(nn.Module):
    block: Any = partial(Step, act=nn.gelu)
    remat: bool = False

    @nn.compact
    def __call__(self, x):
        block = nn.remat(self.block) if self.remat else self.block
        stack = nn.scan(block, variable_axes={"params": 0}, split_rngs={"params": True}, length=2)
        return stack(x.shape[-1], name="layers")(x, None)[0]


class Outer(nn.Module):
    remat: bool = True

    @nn.compact
    def __call__(self, x):
        x = Listed(block=partial(Block, act=nn.tanh), remat=self.remat)(x)
        x = Listed(block=partial(Block, act=nn.gelu))(x)
        x = Counted(block=partial(Block, act=nn.tanh), remat=self.remat)(x)
        return Scanned(remat=self.remat)(x)


class Derived(Counted):
    block: Any = partial(Block, act=jnp.cos)


CASES = [
    ("Counted", {}, [(2, 3)], {}),
    ("Derived", {"remat": True}, [(2, 3)], {}),
    ("Outer", {}, [(2, 3)], {}),
    ("Outer", {"remat": False}, [(2, 3)], {}),
]
