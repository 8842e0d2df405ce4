"""Modules handed to a function under scan or vmap, which stacks their variables; `CASES` as in forms_basic."""

import jax.numpy as jnp
from flax import linen as nn


class Block(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, deterministic=True):
        h = nn.relu(nn.Dense(self.width * 2)(x))
        return x + nn.Dropout(0.1)(nn.Dense(self.width)(h), deterministic=deterministic)


class ScannedInline(nn.Module):
    width: int = 4
    depth: int = 3

    @nn.compact
    def __call__(self, x, deterministic=True):
        def body(block, carry, _):
            return block(carry, deterministic), None

        scan = nn.scan(body, variable_axes={"params": 0}, split_rngs={"params": True, "dropout": True}, length=self.depth)
        x, _ = scan(Block(self.width, name="layers"), x, None)
        return nn.Dense(2)(x)


class ScannedLocal(nn.Module):
    width: int = 4

    @nn.compact
    def __call__(self, x):
        block = nn.Dense(self.width)

        def body(layer, carry, _):
            return nn.tanh(layer(carry)), carry.sum()

        return nn.scan(body, variable_axes={"params": 0}, split_rngs={"params": True}, length=2)(block, x, None)


class ScannedOfSetup(nn.Module):
    width: int = 4
    depth: int = 3

    def setup(self):
        self.block = Block(self.width)
        self.head = nn.Dense(2)

    def __call__(self, x):
        x, _ = nn.scan(
            lambda m, c, _: (m(c), None), variable_axes={"params": 0}, split_rngs={"params": True}, length=self.depth
        )(self.block, x, None)
        return self.head(x)


class Ensemble(nn.Module):
    width: int = 4

    def setup(self):
        self.net = nn.Sequential(
            [nn.Dense(self.width), nn.relu, nn.BatchNorm(use_running_average=False), nn.Dense(self.width)]
        )

    def __call__(self, x):
        member = nn.vmap(
            lambda m, y: m(y), variable_axes={"params": 0, "batch_stats": 0}, split_rngs={"params": True}, in_axes=0
        )
        return member(self.net, x)


class Twice(nn.Module):
    width: int = 4

    def setup(self):
        self.net = Block(self.width)

    def __call__(self, x):
        member = nn.vmap(lambda m, y: m(y), variable_axes={"params": 0}, split_rngs={"params": True}, in_axes=0)
        return member(self.net, member(self.net, x))


class SecondAxis(nn.Module):
    @nn.compact
    def __call__(self, x):
        dense = nn.Dense(5)
        member = nn.vmap(lambda m, y: m(y), variable_axes={"params": 1}, split_rngs={"params": True}, in_axes=0)
        return member(dense, x)


class SharedBesideStacked(nn.Module):
    @nn.compact
    def __call__(self, x):
        shared = nn.vmap(lambda m, y: m(y), variable_axes={"params": None}, split_rngs={"params": False}, in_axes=0)
        own = nn.vmap(lambda m, y: m(y), variable_axes={"params": 0}, split_rngs={"params": True}, in_axes=0)
        return own(nn.Dense(3), shared(nn.Dense(4), x))


class InLoop(nn.Module):
    widths: tuple = (4, 5)

    @nn.compact
    def __call__(self, x):
        for width in self.widths:
            member = nn.vmap(lambda m, y: m(y), variable_axes={"params": 0}, split_rngs={"params": True}, in_axes=0)
            x = jnp.sin(member(nn.Dense(width), x))
        return x


CASES = [
    ("ScannedInline", {}, [(2, 4)], {}),
    ("ScannedInline", {"depth": 1}, [(2, 4)], {}),
    ("ScannedLocal", {}, [(2, 4)], {}),
    ("ScannedOfSetup", {}, [(2, 4)], {}),
    ("Ensemble", {}, [(3, 2, 4)], {}),
    ("Twice", {}, [(3, 2, 4)], {}),
    ("SecondAxis", {}, [(3, 2, 4)], {}),
    ("SharedBesideStacked", {}, [(3, 2, 4)], {}),
    ("InLoop", {}, [(3, 2, 4)], {}),
]
