"""Calls of partials that give again, by name, what the partial binds: by position, NNX would be given it twice."""

from functools import partial
from typing import Any

from flax import linen as nn


class Gen(nn.Module):
    width: int

    @nn.compact
    def __call__(self, z):
        conv = partial(nn.ConvTranspose, kernel_size=(4, 4))
        z = conv(features=4 * self.width)(z)
        z = conv(features=2 * self.width, kernel_size=(3, 3))(z)
        return conv(features=self.width, kernel_size=(1, 1))(z)


class Norms(nn.Module):
    width: int

    @nn.compact
    def __call__(self, z):
        dense = partial(nn.Dense, features=4)
        z = dense(features=4 * self.width)(z)
        z = dense()(z)
        emb = partial(nn.DenseGeneral, axis=-1)
        z = emb(features=(2, 2), axis=(-1,))(z)
        return z


class Attend(nn.Module):
    @nn.compact
    def __call__(self, z):
        att = partial(nn.MultiHeadDotProductAttention, num_heads=2, qkv_features=8)
        z = att(num_heads=4)(z, z)
        z = att(qkv_features=4)(z, z)
        return z


class Setup(nn.Module):
    def setup(self):
        conv = partial(nn.Conv, features=3, kernel_size=(3,), strides=1)
        self.a = conv(features=5)
        self.b = conv(kernel_size=(1,), use_bias=False)
        self.c = [conv(features=4 + i) for i in range(2)]
        self.n = partial(nn.GroupNorm, num_groups=2)(num_groups=1)

    def __call__(self, z):
        z = self.b(self.a(z))
        for c in self.c:
            z = c(z)
        return self.n(z)


class Given(nn.Module):
    conv: Any = partial(nn.Conv, kernel_size=(3,), features=4)

    @nn.compact
    def __call__(self, z):
        z = self.conv(features=6)(z)
        z = self.conv(kernel_size=(1,))(z)
        return z


class Twice(nn.Module):
    @nn.compact
    def __call__(self, z):
        conv = partial(nn.Conv, kernel_size=(3,))
        small = partial(conv, kernel_size=(1,), features=4)
        return small(features=3)(small()(conv(5)(z)))


class Holds(nn.Module):
    @nn.compact
    def __call__(self, z):
        return Given(conv=partial(nn.Conv, features=7, kernel_size=(2,), use_bias=False))(z)


class Choice(nn.Module):
    wide: bool = False

    @nn.compact
    def __call__(self, z):
        conv = partial(nn.Conv, kernel_size=(5,)) if self.wide else partial(nn.Conv, kernel_size=(3,), strides=2)
        return conv(features=3, kernel_size=(1,))(z)


CASES = [
    ("Gen", {"width": 2}, [(2, 4, 4, 3)], {}),
    ("Norms", {"width": 2}, [(2, 3)], {}),
    ("Attend", {}, [(2, 3, 8)], {}),
    ("Setup", {}, [(2, 4, 3)], {}),
    ("Given", {}, [(2, 6, 3)], {}),
    ("Twice", {}, [(2, 6, 3)], {}),
    ("Holds", {}, [(2, 6, 3)], {}),
    ("Choice", {}, [(2, 6, 3)], {}),
    ("Choice", {"wide": True}, [(2, 6, 3)], {}),
]
