"""Conditions on sizes of arrays that a flag had a part in, and one name under two conditions of the fields."""

import functools

import jax.numpy as jnp
from flax import linen as nn


def activation(x, train, apply_relu=True, name=""):
    bn = functools.partial(nn.BatchNorm, momentum=0.9)
    x = bn(name=name)(x, use_running_average=not train)
    return nn.relu(x) if apply_relu else x


class Block(nn.Module):
    """`init_bn` is made at one of two places; Linen has no name twice in one call."""

    channels: int = 4
    first: bool = False

    @nn.compact
    def __call__(self, x, train=True):
        if self.first:
            x = activation(x, train, name="init_bn")
            shortcut = x
        else:
            shortcut = x
        y = x
        if not self.first:
            y = activation(y, train, name="init_bn")
        y = nn.Conv(self.channels, (3, 3), name="conv1")(y)
        y = activation(y, train=train, name="bn_2")
        y = nn.Conv(self.channels, (3, 3), name="conv2")(y)
        if shortcut.shape[-1] != y.shape[-1]:
            shortcut = nn.Dense(y.shape[-1], name="skip")(shortcut)
        return shortcut + y


class OneOfKinds(nn.Module):
    kind: str = "a"

    @nn.compact
    def __call__(self, x):
        if self.kind == "a":
            x = nn.Dense(3, name="dense")(x)
        if self.kind == "b":
            x = nn.Dense(4, name="dense")(x)
        return nn.Dense(2)(x)


class ByMethod(nn.Module):
    channels: int = 4

    @nn.compact
    def __call__(self, x, train=True):
        y = self.normed(nn.Dense(self.channels, name="main")(x), train)
        if x.shape[-1] != y.shape[-1]:
            x = nn.Dense(y.shape[-1], name="skip")(x)
        return x + y

    def normed(self, x, train):
        return nn.relu(nn.BatchNorm()(x, use_running_average=not train))


class Unpacked(nn.Module):
    @nn.compact
    def __call__(self, x, train=True):
        y = activation(x, train, name="norm")
        b, h, w, c = y.shape
        if c != 4:
            x = nn.Dense(4, name="skip")(x)
        return nn.Dense(3)(jnp.tanh(x))


CASES = [
    ("Block", {}, [(2, 4, 4, 4)], {}),
    ("Block", {"first": True}, [(2, 4, 4, 4)], {}),
    ("Block", {"first": True}, [(2, 4, 4, 3)], {"train": False}),
    ("OneOfKinds", {}, [(2, 5)], {}),
    ("OneOfKinds", {"kind": "b"}, [(2, 5)], {}),
    ("OneOfKinds", {"kind": "c"}, [(2, 5)], {}),
    ("ByMethod", {}, [(2, 4)], {}),
    ("ByMethod", {}, [(2, 3)], {}),
    ("Unpacked", {}, [(2, 4, 4, 4)], {}),
    ("Unpacked", {}, [(2, 4, 4, 3)], {}),
]
