"""Modules of setup with names of their own that other classes read by the attribute: a property says them; `CASES` as in
forms_basic."""

from typing import Any

import jax.numpy as jnp
from flax import linen as nn


class Block(nn.Module):
    width: int = 4

    @nn.compact
    def __call__(self, x):
        return x + nn.Dense(self.width)(x)


class Stack(nn.Module):
    depth: int = 2

    def setup(self):
        self.embed = nn.Dense(4, name="first")
        self.blocks = [Block(name=f"layer_{i}") for i in range(self.depth)]
        self.project = nn.Dense(4, name="out")
        self.tokens = nn.Embed(5, 4, name="table")

    def __call__(self, x):
        x = self.embed(x) + self.tokens(jnp.array([1, 2]))
        for block in self.blocks:
            x = block(x)
        return self.project(x)


class Derived(Stack):
    def __call__(self, x):
        return super().__call__(x) + self.embed(x)


class Outer(nn.Module):
    def setup(self):
        self.stack = Stack()
        self.table = self.stack.tokens.embedding * 2

    def __call__(self, x):
        y = self.stack(x) * len(self.stack.blocks) + self.stack.blocks[0](x)
        return self.stack.project(y) + self.stack.embed(x) + self.table[:2]


class OnOneLine(nn.Module):
    def setup(self): self.inner = nn.Dense(4, name="hidden.one")

    def __call__(self, x):
        return self.inner(x)


class ReadsIt(nn.Module):
    def setup(self):
        self.part = OnOneLine()

    def __call__(self, x):
        return self.part(x) @ self.part.inner.variables["params"]["kernel"]


CASES: list[Any] = [
    ("Stack", {}, [(2, 4)], {}),
    ("Derived", {}, [(2, 4)], {}),
    ("Outer", {}, [(2, 4)], {}),
    ("ReadsIt", {}, [(2, 4)], {}),
]
