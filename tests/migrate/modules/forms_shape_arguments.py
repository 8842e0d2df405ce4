"""Shapes that a module is called with, and kinds of modules in a field that derived classes change."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn


class ConvBlock(nn.Module):
    features: int
    kernel_size: tuple[int, int] = (3, 3)
    strides: tuple[int, int] = (1, 1)
    padding: Any = ((0, 0), (0, 0))
    conv: Any = nn.Conv
    norm: Any = partial(nn.BatchNorm, momentum=0.9)

    @nn.compact
    def __call__(self, x):
        x = self.conv(self.features, self.kernel_size, self.strides, padding=self.padding)(x)
        if self.norm:
            x = self.norm(use_running_average=True)(x)
        return x


class Skip(nn.Module):
    """A projection where the shapes differ, in whatever dimension."""

    strides: tuple[int, int]
    block: Any = ConvBlock

    @nn.compact
    def __call__(self, x, out_shape):
        if x.shape != out_shape:
            x = self.block(out_shape[-1], kernel_size=(1, 1), strides=self.strides)(x)
        return x


class PooledSkip(nn.Module):
    strides: tuple[int, int]
    block: Any = ConvBlock

    @nn.compact
    def __call__(self, x, out_shape):
        if self.strides != (1, 1):
            x = nn.avg_pool(x, (2, 2), strides=(2, 2), padding=((0, 0), (0, 0)))
        if x.shape[-1] != out_shape[-1]:
            x = self.block(out_shape[-1], (1, 1))(x)
        return x


class Block(nn.Module):
    features: int
    strides: tuple[int, int] = (1, 1)
    block: Any = ConvBlock
    skip: Any = Skip

    @nn.compact
    def __call__(self, x):
        skip = partial(self.skip, block=self.block)
        y = self.block(self.features, padding=[(1, 1), (1, 1)], strides=self.strides)(x)
        y = self.block(self.features, padding=[(1, 1), (1, 1)])(nn.relu(y))
        return nn.relu(y + skip(self.strides)(x, y.shape))


class PooledBlock(Block):
    """The method is that of the base, the kind of the skip connection is not; Linen counts it under its own name."""

    skip: Any = PooledSkip


class Resized(nn.Module):
    """A shape that is an argument of the model itself."""

    @nn.compact
    def __call__(self, x, target_shape):
        x = nn.Dense(target_shape[-1])(x)
        return jnp.broadcast_to(x, target_shape)


class Enlarged(nn.Module):
    """Items of an argument that are sizes: the other sizes stay known."""

    @nn.compact
    def __call__(self, x, size):
        x = nn.Conv(4, (3, 3))(x)
        x = jax.image.resize(x, (x.shape[0], size[0], size[1], x.shape[-1]), "nearest")
        return nn.Conv(3, (3, 3))(x)


class EnlargedApart(nn.Module):
    @nn.compact
    def __call__(self, x, size):
        x = nn.Conv(4, (3, 3))(x)
        height, width = size
        x = jax.image.resize(x, (x.shape[0], height, width, x.shape[-1]), "nearest")
        return nn.Conv(3, (3, 3))(x)


class Folded(nn.Module):
    @nn.compact
    def __call__(self, x, out_shape):
        x = nn.Conv(4, (3, 3))(x)
        return nn.Dense(3)(x.reshape((x.shape[0], out_shape[0], out_shape[1])))


class FoldedAs(nn.Module):
    """Sizes picked by number from a shape that the caller gives."""

    @nn.compact
    def __call__(self, x, y):
        return Folded()(x, y.shape)


CASES = [
    ("Enlarged", {}, [(2, 4, 4, 3), [8, 6]], {}),
    ("EnlargedApart", {}, [(2, 4, 4, 3), [8, 6]], {}),
    ("Folded", {}, [(2, 4, 4, 3), [8, 8]], {}),
    ("FoldedAs", {}, [(2, 4, 4, 3), (8, 8)], {}),
    ("Block", {"features": 4}, [(2, 8, 8, 3)], {}),
    ("Block", {"features": 3}, [(2, 8, 8, 3)], {}),
    ("Block", {"features": 3, "strides": (2, 2)}, [(2, 8, 8, 3)], {}),
    ("Block", {"features": 5, "strides": (2, 2), "skip": PooledSkip}, [(2, 8, 8, 3)], {}),
    ("PooledBlock", {"features": 4}, [(2, 8, 8, 3)], {}),
    ("PooledBlock", {"features": 3}, [(2, 8, 8, 3)], {}),
    ("PooledBlock", {"features": 3, "strides": (2, 2)}, [(2, 8, 8, 3)], {}),
]
