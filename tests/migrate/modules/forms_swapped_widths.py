"""Widths that a condition swaps: two halves of an array, whichever of them is which; stages of lists of lists."""

from collections.abc import Sequence

import jax.numpy as jnp
from flax import linen as nn


class EitherOrder(nn.Module):
    flip: bool

    @nn.compact
    def __call__(self, x):
        d = x.shape[-1] // 2
        a, b = x[..., :d], x[..., d:]
        out = jnp.concatenate([b, a] if self.flip else [a, b], -1)
        return nn.Dense(out.shape[-1])(out)


class Swapped(nn.Module):
    flip: bool

    @nn.compact
    def __call__(self, x):
        d = x.shape[-1] // 2
        a, b = x[..., :d], x[..., d:]
        if self.flip:
            a, b = b, a
        b = b + nn.Dense(b.shape[-1])(a)
        if self.flip:
            out = jnp.concatenate([b, a], -1)
        else:
            out = jnp.concatenate([a, b], -1)
        return nn.Dense(3)(out)


class Coupling(nn.Module):
    flip: bool

    @nn.compact
    def __call__(self, x):
        d = x.shape[-1] // 2
        a, b = x[..., :d], x[..., d:]
        if self.flip:
            a, b = b, a
        b = b + nn.Dense(b.shape[-1])(a)
        if self.flip:
            out = jnp.concatenate([b, a], -1)
        else:
            out = jnp.concatenate([a, b], -1)
        return out


class Couplings(nn.Module):
    def setup(self):
        self.ls = [Coupling(i % 2 == 1) for i in range(3)]

    def __call__(self, x):
        for l in self.ls:
            x = l(x)
        return x


class AffineCoupling(nn.Module):
    hidden: int
    flip: bool

    @nn.compact
    def __call__(self, x, reverse=False):
        d = x.shape[-1] // 2
        a, b = x[..., :d], x[..., d:]
        if self.flip:
            a, b = b, a
        h = nn.relu(nn.Dense(self.hidden)(a))
        st = nn.Dense(2 * b.shape[-1], kernel_init=nn.initializers.zeros)(h)
        s, t = jnp.split(st, 2, axis=-1)
        s = jnp.tanh(s)
        b = (b - t) * jnp.exp(-s) if reverse else b * jnp.exp(s) + t
        out = jnp.concatenate([b, a] if self.flip else [a, b], -1)
        return out, s.sum(-1)


class Flow(nn.Module):
    n: int = 3

    def setup(self):
        self.layers = [AffineCoupling(8, i % 2 == 1) for i in range(self.n)]

    def __call__(self, x):
        ld = 0
        for l in self.layers:
            x, d = l(x)
            ld = ld + d
        return x, ld

    def inverse(self, z):
        for l in reversed(self.layers):
            z, _ = l(z, reverse=True)
        return z


class Masked(nn.Module):
    mask: jnp.ndarray

    @nn.compact
    def __call__(self, x):
        h = nn.Dense(8)(x * self.mask)
        st = nn.Dense(2 * x.shape[-1])(nn.relu(h))
        s, t = jnp.split(st, 2, -1)
        return x * self.mask + (1 - self.mask) * (x * jnp.exp(s) + t)


class MasksOfSetup(nn.Module):
    dim: int = 4
    n: int = 2

    def setup(self):
        masks = [jnp.arange(self.dim) % 2 == i % 2 for i in range(self.n)]
        self.ls = [Masked(m) for m in masks]

    def __call__(self, x):
        for l in self.ls:
            x = l(x)
        return x


class Blk(nn.Module):
    dim: int

    @nn.compact
    def __call__(self, x):
        return x + nn.Dense(self.dim)(nn.LayerNorm()(x))


class Stages(nn.Module):
    depths: Sequence[int] = (1, 2)
    dims: Sequence[int] = (4, 8)

    def setup(self):
        downs = []
        stages = []
        for i, (d, n) in enumerate(zip(self.dims, self.depths)):
            downs.append(nn.Conv(d, (2, 2), strides=(2, 2)))
            stages.append(nn.Sequential([Blk(d) for _ in range(n)]))
        self.downs = downs
        self.stages = stages

    def __call__(self, x):
        for down, stage in zip(self.downs, self.stages):
            x = stage(down(x))
        return x


class ListsOfLists(nn.Module):
    depths: Sequence[int] = (1, 2)
    dim: int = 4

    def setup(self):
        self.stem = nn.Dense(self.dim)
        self.stages = [[Blk(self.dim) for _ in range(n)] for n in self.depths]

    def __call__(self, x):
        x = self.stem(x)
        for stage in self.stages:
            for b in stage:
                x = b(x)
        return x


class StagesOfDense(nn.Module):
    dims: Sequence[int] = (4, 8)

    def setup(self):
        stages = []
        for d in self.dims:
            stages.append(nn.Sequential([nn.Dense(d), *[nn.Dense(d) for _ in range(2)]]))
        self.stages = stages

    def __call__(self, x):
        for s in self.stages:
            x = s(x)
        return x


class TwoLists(nn.Module):
    dims: Sequence[int] = (4, 8)

    def setup(self):
        self.a = [nn.Dense(d) for d in self.dims]
        self.b = [nn.Sequential([nn.LayerNorm(), nn.Dense(d)]) for d in self.dims]

    def __call__(self, x):
        for a in self.a:
            x = a(x)
        for b in self.b:
            x = x.mean(-1, keepdims=True) + b(x)
        return x


CASES = [
    ("EitherOrder", {"flip": True}, [(2, 5)], {}),
    ("EitherOrder", {"flip": False}, [(2, 5)], {}),
    ("Swapped", {"flip": True}, [(2, 5)], {}),
    ("Swapped", {"flip": False}, [(2, 5)], {}),
    ("Couplings", {}, [(2, 5)], {}),
    ("Flow", {}, [(2, 5)], {}),
    ("MasksOfSetup", {}, [(2, 4)], {}),
    ("Stages", {}, [(2, 8, 8, 3)], {}),
    ("ListsOfLists", {}, [(2, 8, 8, 3)], {}),
    ("StagesOfDense", {}, [(2, 3)], {}),
    ("TwoLists", {}, [(2, 3)], {}),
]
