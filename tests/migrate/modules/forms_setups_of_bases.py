"""Bases whose setup makes layers that only the classes which derive from them call."""

from typing import Any

import jax.numpy as jnp
from flax import linen as nn


class Block(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, y=None):
        h = nn.Dense(self.width)(x)
        return h if y is None else h + nn.Dense(self.width)(y)


class Stack(nn.Module):
    """What the nets share."""

    width: int = 4
    count: int = 2
    normed: bool = False

    def setup(self):
        # One for each step.
        self.blocks = [Block(self.width, name=f"block_{i}") for i in range(self.count)]
        if self.normed:
            self.norm = nn.LayerNorm()

    @property
    def total(self):
        return self.width * self.count


class Net(Stack):
    def __call__(self, x):
        for i in range(self.count):
            x = self.blocks[i](x)
        return self.norm(x) if self.normed else x * self.total


class Crossed(Stack):
    scale: float = 2.0

    def __call__(self, x, y):
        for block in self.blocks:
            x = block(x, y)
        return self.norm(x * self.scale) if self.normed else x


class Heads(nn.Module):
    outputs: int = 2
    act: Any = nn.relu

    def setup(self):
        self.hidden = nn.Dense(6)
        self.out = nn.Dense(self.outputs)


class Actor(Heads):
    @nn.nowrap
    def scaled(self, x):
        return x / 2

    def __call__(self, x):
        return nn.tanh(self.out(self.act(self.hidden(self.scaled(x)))))


class Critic(Heads):
    def __call__(self, x, actions):
        return self.out(self.act(self.hidden(jnp.concatenate([x, actions], axis=-1))))


class Twins(nn.Module):
    @nn.compact
    def __call__(self, x, actions):
        return Actor(3)(x) + Critic(3)(x, actions) + Critic(1)(x, actions)


CASES = [
    ("Net", {}, [(2, 5)], {}),
    ("Crossed", {"normed": True}, [(2, 4), (2, 3)], {}),
    ("Actor", {}, [(2, 5)], {}),
    ("Twins", {}, [(2, 5), (2, 3)], {}),
    ("Net", {"normed": True, "count": 3}, [(2, 5)], {}),
    ("Crossed", {}, [(2, 4), (2, 3)], {}),
    ("Critic", {}, [(2, 5), (2, 3)], {}),
]
