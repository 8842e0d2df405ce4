"""Partials of layers that the branches of an `if` name, handed on to other modules; `CASES` as in forms_basic."""

import functools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import flax.linen as nn
import jax.numpy as jnp

ModuleDef = Any


class Block(nn.Module):
    filters: int
    conv: ModuleDef
    norm: ModuleDef
    act: Callable = nn.relu
    strides: tuple[int, int] = (1, 1)

    @nn.compact
    def __call__(self, x):
        residual = x
        y = self.act(self.norm()(self.conv(self.filters, (3, 3), self.strides)(x)))
        y = self.norm(scale_init=nn.initializers.zeros_init())(self.conv(self.filters, (3, 3))(y))
        if residual.shape != y.shape:
            residual = self.conv(self.filters, (1, 1), self.strides, name="conv_proj")(residual)
            residual = self.norm(name="norm_proj")(residual)
        return self.act(residual + y)


class ByFlag(nn.Module):
    bn: bool = True

    @nn.compact
    def __call__(self, x, train: bool = True):
        conv = partial(nn.Conv, use_bias=False)
        if self.bn:
            norm = partial(nn.BatchNorm, use_running_average=not train, momentum=0.9)
        else:
            norm = partial(nn.GroupNorm, num_groups=2)
        return Block(4, conv=conv, norm=norm)(x)


class ByName(nn.Module):
    kind: str = "batch"
    dtype: Any = jnp.float32

    @nn.compact
    def __call__(self, x, train: bool = True):
        conv = partial(nn.Conv, use_bias=False, dtype=self.dtype)
        if self.kind == "batch":
            norm = partial(nn.BatchNorm, use_running_average=not train, momentum=0.9, epsilon=1e-4, dtype=self.dtype)
        elif self.kind == "group":
            norm = functools.partial(nn.GroupNorm, num_groups=2, dtype=self.dtype)
        else:
            norm = functools.partial(nn.LayerNorm, dtype=self.dtype)
        x = norm(name="norm_init")(conv(4, (3, 3), name="conv_init")(x))
        for i in range(2):
            x = Block(4 * 2**i, conv, norm, nn.gelu)(x)
        return x


class Stages(nn.Module):
    stage_sizes: Sequence[int]
    bn: bool = True
    block: ModuleDef | None = None

    @nn.compact
    def __call__(self, x, train: bool = True):
        conv = partial(nn.Conv, use_bias=False)
        if self.bn:
            norm = partial(nn.BatchNorm, use_running_average=not train)
        else:
            norm = partial(nn.GroupNorm, num_groups=2)
        block = self.block or Block
        for i, n in enumerate(self.stage_sizes):
            for j in range(n):
                strides = (2, 2) if i > 0 and j == 0 else (1, 1)
                x = block(4 * 2**i, conv=conv, norm=norm, strides=strides)(x)
        return nn.Dense(3)(x.mean(axis=(1, 2)))


class Nested(nn.Module):
    norm: str | None = "batch"
    affine: bool = False

    @nn.compact
    def __call__(self, x, train: bool = True):
        if self.norm == "batch":
            if self.affine:
                norm = partial(nn.BatchNorm, use_running_average=not train)
            else:
                norm = partial(nn.BatchNorm, use_running_average=not train, use_bias=False)
        else:
            norm = partial(nn.GroupNorm, num_groups=4)
        return Block(4, conv=nn.Conv, norm=norm)(x)


class InSetup(nn.Module):
    bn: bool = True

    def setup(self):
        if self.bn:
            norm = partial(nn.BatchNorm, use_running_average=True, momentum=0.8)
        else:
            norm = partial(nn.GroupNorm, num_groups=1)
        self.a = Block(4, conv=partial(nn.Conv, use_bias=False), norm=norm)
        self.b = Block(4, conv=nn.Conv, norm=norm)

    def __call__(self, x):
        return self.b(self.a(x))


class Conved(nn.Module):
    wide: bool = False

    @nn.compact
    def __call__(self, x):
        if self.wide:
            conv = partial(nn.Conv, padding="SAME", kernel_dilation=2)
        else:
            conv = partial(nn.Conv, padding="SAME", use_bias=False)
        return Block(4, conv=conv, norm=partial(nn.LayerNorm, epsilon=1e-3))(x)


class Beside(nn.Module):
    """The branches do more than name it."""

    bn: bool = True

    @nn.compact
    def __call__(self, x, train: bool = True):
        if self.bn:
            norm = partial(nn.BatchNorm, use_running_average=not train)
            x = norm(name="first")(x)
        else:
            norm = partial(nn.GroupNorm, num_groups=2)
            x = 2 * x
        return Block(4, conv=nn.Conv, norm=norm)(x)


CASES = [
    ("ByFlag", {}, [(2, 4, 4, 3)], {"train": False}),
    ("ByFlag", {}, [(2, 4, 4, 3)], {"train": True}),
    ("ByFlag", {"bn": False}, [(2, 4, 4, 3)], {"train": False}),
    ("ByName", {}, [(2, 4, 4, 3)], {"train": False}),
    ("ByName", {"kind": "group", "dtype": jnp.bfloat16}, [(2, 4, 4, 3)], {}),
    ("ByName", {"kind": "layer"}, [(2, 4, 4, 3)], {}),
    ("Stages", {"stage_sizes": (1, 2)}, [(2, 8, 8, 3)], {"train": False}),
    ("Stages", {"stage_sizes": (1, 2), "bn": False}, [(2, 8, 8, 3)], {"train": False}),
    ("Nested", {}, [(2, 4, 4, 3)], {"train": False}),
    ("Nested", {"affine": True}, [(2, 4, 4, 3)], {"train": False}),
    ("Nested", {"norm": None}, [(2, 4, 4, 3)], {"train": False}),
    ("InSetup", {}, [(2, 4, 4, 3)], {}),
    ("InSetup", {"bn": False}, [(2, 4, 4, 3)], {}),
    ("Conved", {}, [(2, 4, 4, 3)], {}),
    ("Conved", {"wide": True}, [(2, 4, 4, 3)], {}),
    ("Beside", {}, [(2, 4, 4, 4)], {"train": False}),
    ("Beside", {"bn": False}, [(2, 4, 4, 4)], {"train": False}),
]
