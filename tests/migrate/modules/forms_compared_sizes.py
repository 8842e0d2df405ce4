"""Sizes that a condition compares: where they are equal, one name says what both sides give."""

import flax.linen as nn
import jax.numpy as jnp


def add(block, first):
    if block.shape[-1] != first.shape[-1]:
        first = jnp.pad(first, [(0, 0), (0, block.shape[-1] - first.shape[-1])])
    return block + first


def padded(x, width):
    if x.shape[-1] == width:
        return x
    return jnp.pad(x, [(0, 0), (0, width - x.shape[-1])])


class Block(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return add(nn.Dense(self.width)(x), x)


class Group(nn.Module):
    """The width behind the loop is that of its last pass, and is compared with the one before it."""

    blocks: int
    width: int

    @nn.compact
    def __call__(self, x):
        first = x
        for _ in range(self.blocks):
            x = Block(self.width)(x)
        return add(x, first)


class Net(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        first = x
        x = Group(2, self.width)(x)
        x = Group(1, 2 * self.width)(x)
        return nn.Dense(3)(padded(add(x, first), 9))


class Unlike(nn.Module):
    """The other side does not say that they are equal."""

    width: int
    project: bool = False

    @nn.compact
    def __call__(self, x):
        if self.project and x.shape[-1] != self.width:
            x = nn.Dense(self.width, name="proj")(x)
        return nn.Dense(3)(x)


class Changed(nn.Module):
    """What was compared is changed before it is used."""

    width: int

    @nn.compact
    def __call__(self, x):
        width = self.width
        if x.shape[-1] != width:
            width = 2 * width
            x = nn.Dense(width)(x)
        return nn.Dense(3)(x)


CASES = [
    ("Net", {"width": 4}, [(2, 4)], {}),
    ("Net", {"width": 4}, [(2, 3)], {}),
    ("Unlike", {"width": 4}, [(2, 3)], {}),
    ("Unlike", {"width": 4, "project": True}, [(2, 3)], {}),
    ("Changed", {"width": 4}, [(2, 3)], {}),
    ("Changed", {"width": 4}, [(2, 4)], {}),
]
