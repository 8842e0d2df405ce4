"""Layers picked from a dict; a layer's subclass picked by a condition; sizes spread into a constructor."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
from flax import linen as nn


class Picked(nn.Module):
    norm: str = "layer"

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(4)(x)
        norm = {"layer": nn.LayerNorm, "rms": nn.RMSNorm, "group": functools.partial(nn.GroupNorm, num_groups=2)}[self.norm]
        x = norm()(x)
        return nn.Dense(3)(norm()(x))


NORMS = {"layer": nn.LayerNorm, "rms": functools.partial(nn.RMSNorm, epsilon=1e-3)}


class PickedFromFile(nn.Module):
    norm: str = "layer"

    def setup(self):
        self.fc = nn.Dense(4)
        self.norm1 = NORMS[self.norm]()
        cls = NORMS[self.norm]
        self.norm2 = cls()

    def __call__(self, x):
        return self.norm2(self.norm1(self.fc(x)))


class PickedInLoop(nn.Module):
    features: Sequence[int]
    transpose: Sequence[bool]

    @nn.compact
    def __call__(self, x):
        kinds = {False: nn.Conv, True: nn.ConvTranspose}
        for i in range(len(self.features)):
            x = kinds[self.transpose[i]](name=f"conv_{i}", features=self.features[i], kernel_size=(3, 3))(x)
            x = nn.relu(x)
        return nn.Dense(3)(x)


class BatchlessNorm(nn.GroupNorm):
    def __call__(self, x):
        if x.ndim == 3:
            x = x[jnp.newaxis]
            x = super().__call__(x)
            return x[0]
        return super().__call__(x)


class Block(nn.Module):
    filters: int
    conv: Any
    norm: Any
    act: Callable

    @nn.compact
    def __call__(self, x):
        residual = x
        y = self.act(self.norm()(self.conv(self.filters, (3, 3))(x)))
        y = self.norm(scale_init=nn.initializers.constant(0.5))(y)
        if residual.shape != y.shape:
            residual = self.conv(self.filters, (1, 1), name="conv_proj")(residual)
            residual = self.norm(name="norm_proj")(residual)
        return self.act(residual + y)


class Encoder(nn.Module):
    stage_sizes: Sequence[int]
    block_cls: Any = Block
    num_filters: int = 4
    norm: str = "group"
    act: str = "relu"

    @nn.compact
    def __call__(self, x):
        conv = functools.partial(nn.Conv, use_bias=False)
        if self.norm == "group":
            norm = functools.partial(BatchlessNorm, num_groups=2, epsilon=1e-5)
        elif self.norm == "layer":
            norm = functools.partial(nn.LayerNorm, epsilon=1e-5)
        else:
            raise ValueError("norm not found")
        act = getattr(nn, self.act)
        x = conv(self.num_filters, (7, 7), (2, 2), name="conv_init")(x)
        x = act(norm(name="norm_init")(x))
        for i, block_size in enumerate(self.stage_sizes):
            for _ in range(block_size):
                x = self.block_cls(self.num_filters * 2**i, conv=conv, norm=norm, act=act)(x)
        return x


class LearnedEmbeddings(nn.Module):
    height: int
    width: int
    channel: int
    num_features: int = 5

    @nn.compact
    def __call__(self, x):
        shape = (self.height, self.width, self.channel, self.num_features)
        kernel = self.param("kernel", nn.initializers.lecun_normal(), shape)
        x = jnp.sum(jnp.expand_dims(x, -1) * jnp.expand_dims(kernel, 0), axis=(1, 2))
        return jnp.reshape(x, [x.shape[0], -1])


class SpreadSizes(nn.Module):
    features: Sequence[int] = (4, 6)

    @nn.compact
    def __call__(self, x):
        for size in self.features:
            x = nn.relu(nn.Conv(size, (3, 3))(x))
        x = LearnedEmbeddings(*(x.shape[-3:]), 8)(x)
        return nn.Dense(3)(x)


CASES = [
    ("Picked", {}, [(2, 3)], {}),
    ("Picked", {"norm": "rms"}, [(2, 3)], {}),
    ("Picked", {"norm": "group"}, [(2, 3)], {}),
    ("PickedFromFile", {"norm": "layer"}, [(2, 3)], {}),
    ("PickedFromFile", {"norm": "rms"}, [(2, 3)], {}),
    ("PickedInLoop", {"features": (4, 5, 6), "transpose": (False, True, False)}, [(2, 8, 8, 3)], {}),
    ("Encoder", {"stage_sizes": (1, 2)}, [(2, 8, 8, 3)], {}),
    ("Encoder", {"stage_sizes": (1, 2)}, [(8, 8, 3)], {}),
    ("Encoder", {"stage_sizes": (1, 2), "norm": "layer"}, [(2, 8, 8, 3)], {}),
    ("SpreadSizes", {}, [(2, 8, 8, 3)], {}),
]
