"""Functions that make a layer with a flag of their arguments and call it: every class gives them its own flag."""

import functools
import jax.numpy as jnp
from flax import linen as nn


def activation(x, train, apply_relu=True, name=""):
    batch_norm = functools.partial(nn.BatchNorm, use_running_average=not train, momentum=0.9)
    x = batch_norm(name=name)(x)
    if apply_relu:
        x = nn.relu(x)
    return x


class Block(nn.Module):
    """The flag is an argument of the call, under another name than the function's."""

    channels: int = 4
    first: bool = False

    @nn.compact
    def __call__(self, x, is_training=True):
        if self.first:
            x = activation(x, is_training, name="init_bn")
            shortcut = x
        else:
            shortcut = x
        y = x
        if not self.first:
            y = activation(y, is_training, name="init_bn")
        y = nn.Conv(self.channels, (3, 3), name="conv1")(y)
        y = activation(y, train=is_training, name="bn_2", apply_relu=False)
        if y.shape[-1] != shortcut.shape[-1]:
            shortcut = jnp.pad(shortcut, [(0, 0), (0, 0), (0, 0), (0, y.shape[-1] - shortcut.shape[-1])])
        return y + shortcut


class Group(nn.Module):
    blocks: int = 2
    channels: int = 4
    first: bool = False

    @nn.compact
    def __call__(self, x, train=True):
        for i in range(self.blocks):
            x = Block(self.channels, self.first and i == 0)(x, train)
        return x


class WideResNet(nn.Module):
    """The flag is a field."""

    train: bool = False

    @nn.compact
    def __call__(self, x):
        x = nn.Conv(3, (3, 3), name="init_conv")(x)
        x = Group(2, 4, first=True)(x, self.train)
        x = Group(2, 6)(x, train=self.train)
        x = activation(x, train=self.train, name="pre-pool-bn")
        return nn.Dense(2)(jnp.mean(x, axis=(1, 2)))


def dropped(x, deterministic, rate=0.5):
    drop = functools.partial(nn.Dropout, rate, deterministic=deterministic)
    return drop()(nn.relu(x))


class ByField(nn.Module):
    train: bool = False

    @nn.compact
    def __call__(self, x):
        return dropped(nn.Dense(3)(x), not self.train)


class ByCall(nn.Module):
    @nn.compact
    def __call__(self, x, evaluate=True):
        return dropped(nn.Dense(3)(x), evaluate, 0.2)


CASES = [
    ("Block", {}, [(2, 4, 4, 3)], {}),
    ("Block", {"first": True}, [(2, 4, 4, 4)], {"is_training": False}),
    ("WideResNet", {}, [(2, 4, 4, 3)], {}),
    ("WideResNet", {"train": True}, [(2, 4, 4, 3)], {}),
    ("ByField", {}, [(2, 3)], {}),
    ("ByCall", {}, [(2, 3)], {}),
]
