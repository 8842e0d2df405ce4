"""Classes that code outside of modules gives by tables, by unpacked options and by names of its own for classes."""

import functools
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from flax import linen as nn


class Block(nn.Module):
    filters: int
    conv: Any
    norm: Any
    act: Callable
    strides: tuple = (1, 1)

    @nn.compact
    def __call__(self, x):
        residual = x
        y = self.act(self.norm()(self.conv(self.filters, (3, 3), self.strides)(x)))
        if residual.shape != y.shape:
            residual = self.conv(self.filters, (1, 1), self.strides, name="conv_proj")(residual)
        return self.act(residual + y)


class Bottleneck(nn.Module):
    filters: int
    conv: Any
    norm: Any
    act: Callable
    strides: tuple = (1, 1)

    @nn.compact
    def __call__(self, x):
        residual = x
        y = self.act(self.norm()(self.conv(self.filters, (1, 1))(x)))
        y = self.conv(4 * self.filters, (3, 3), self.strides)(y)
        if residual.shape != y.shape:
            residual = self.conv(4 * self.filters, (1, 1), self.strides, name="conv_proj")(residual)
        return self.act(residual + y)


class ResNet(nn.Module):
    stage_sizes: Any
    block_cls: Any
    num_filters: int = 4

    @nn.compact
    def __call__(self, x, train: bool = True):
        conv = functools.partial(nn.Conv, use_bias=False)
        norm = functools.partial(nn.BatchNorm, use_running_average=not train)
        for i, size in enumerate(self.stage_sizes):
            for j in range(size):
                strides = (2, 2) if i > 0 and j == 0 else (1, 1)
                x = self.block_cls(self.num_filters * 2**i, strides=strides, conv=conv, norm=norm, act=nn.relu)(x)
        return nn.Dense(3)(jnp.mean(x, axis=(1, 2)))


CONFIGS = {
    18: {"stage_sizes": [2, 1], "block_cls": Block},
    50: dict(stage_sizes=[1, 1], block_cls=Bottleneck),
}


def create_model(layers, filters):
    config = CONFIGS[layers]
    config["num_filters"] = filters
    return ResNet(**config)


class Cell(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.tanh(nn.Dense(self.width)(x))


class Tower(nn.Module):
    cell: Any
    n: int = 2

    @nn.compact
    def __call__(self, x):
        for _ in range(self.n):
            x = self.cell(width=x.shape[-1])(x)
        return x


class DeepTower(Tower):
    n: int = 3


def create_tower(deep):
    build = DeepTower if deep else Tower
    return build(Cell)


class Encoder(nn.Module):
    width: int = 5

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)


class WideEncoder(nn.Module):
    width: int = 7

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width, use_bias=False)(x)


class Encoded(nn.Module):
    encoder: Any = None

    @nn.compact
    def __call__(self, x):
        if self.encoder is not None:
            x = self.encoder()(x)
        return nn.Dense(2)(x)


small = {"small": Encoder}
ENCODERS = dict()
ENCODERS.update(small)
ENCODERS["wide"] = WideEncoder


def create_encoded(kind):
    if kind is not None:
        encoder = ENCODERS[kind]
    else:
        encoder = None
    return Encoded(encoder=encoder)


IMAGE = (2, 8, 8, 3)
CASES = [
    ("ResNet", CONFIGS[18], [IMAGE], {"train": True}),
    ("ResNet", CONFIGS[50], [IMAGE], {"train": False}),
    ("Tower", {"cell": Cell}, [(2, 4)], {}),
    ("DeepTower", {"cell": Cell}, [(2, 4)], {}),
    *[("Encoded", {"encoder": encoder}, [(2, 4)], {}) for encoder in (None, Encoder, WideEncoder)],
]
