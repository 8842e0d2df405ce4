"""Wrappers that hand `*args` and `**kwargs` on to what they hold, which is a layer."""

from typing import Callable

import jax.numpy as jnp
from flax import linen as nn


class Around(nn.Module):
    fn: Callable

    @nn.compact
    def __call__(self, x, **kwargs):
        return self.fn(x, **kwargs) + x


class Before(nn.Module):
    fn: nn.Module
    width: int

    @nn.compact
    def __call__(self, x, *args, **kwargs):
        return self.fn(nn.Dense(self.width)(x), *args, **kwargs)


class Inner(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, scale=1.0):
        return nn.Dense(x.shape[-1])(nn.Dense(self.width)(x)) * scale


class Local(nn.Module):
    dim: int

    @nn.compact
    def __call__(self, x):
        proj = Around(nn.Conv(self.dim, (3, 3), feature_group_count=self.dim))
        x = proj(x)
        x = Around(nn.LayerNorm())(x)
        x = Around(nn.Dense(self.dim, use_bias=False))(x)
        return Around(nn.GroupNorm(2))(x)


class Mixed(nn.Module):
    """One wrapper around a class, around itself, and around layers."""

    dim: int

    @nn.compact
    def __call__(self, x):
        x = Around(Inner(self.dim))(x, scale=2.0)
        x = Around(Around(nn.Dense(self.dim)))(x)
        x = Before(nn.DenseGeneral((2, 3)), self.dim + 1)(x)
        x = Before(nn.LayerNorm(), self.dim)(x)
        return Before(Inner(5), 7)(x, 0.5)


class OfSetup(nn.Module):
    dim: int

    def setup(self):
        self.a = Around(nn.Dense(self.dim))
        self.b = Before(fn=nn.RMSNorm(), width=self.dim * 2)
        self.c = [Around(nn.ConvTranspose(2 * self.dim, (3,), strides=(1,))) for _ in range(2)]
        self.d = Around(fn=nn.Embed(9, 1))

    def __call__(self, x, ids):
        x = self.b(self.a(x))
        for c in self.c:
            x = c(x)
        return x, self.d(ids)


CASES = [
    ("Local", {"dim": 4}, [(2, 6, 6, 4)], {}),
    ("Mixed", {"dim": 4}, [(2, 4)], {}),
    ("OfSetup", {"dim": 4}, [(2, 6, 4), jnp.array([[1], [2]])], {}),
]
