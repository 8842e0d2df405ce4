"""Layers' classes under names: asked for by isinstance in all its spellings, as fields' defaults, and as a method's names."""

from typing import Any

import flax
import jax.numpy as jnp
from flax import linen, linen as nn
from flax.linen import Dense as D, Dropout as Drop

KINDS = (nn.Dense, nn.BatchNorm)
NESTED_KINDS = (nn.Dense, (nn.LayerNorm, nn.Conv))


class OtherNames(nn.Module):
    rate: float = 0.5

    def setup(self):
        self.net = [D(4), Drop(self.rate), flax.linen.LayerNorm(), linen.Dense(3)]

    def __call__(self, x, train=False):
        for l in self.net:
            x = l(x, deterministic=not train) if isinstance(l, Drop) else l(x)
        return x


class Cell(nn.RNNCellBase):
    n: int = 3

    @nn.compact
    def __call__(self, c, x):
        c = nn.tanh(nn.Dense(self.n)(x) + nn.Dense(self.n)(c))
        return c, c

    @nn.nowrap
    def initialize_carry(self, rng, shape):
        return jnp.zeros(shape[:-1] + (self.n,))

    @property
    def num_feature_axes(self):
        return 1


class CellsAsked(nn.Module):
    def setup(self):
        self.net = [Cell(3), nn.Dense(3), nn.GRUCell(3)]

    def __call__(self, x):
        c = jnp.zeros((2, 3))
        for l in self.net:
            if isinstance(l, nn.RNNCellBase):
                c, x = l(c, x)
            else:
                x = l(x)
        return x


class StagesAsked(nn.Module):
    def setup(self):
        self.stages = [[nn.Dense(4), nn.Dropout(0.5)], [nn.Dense(5), nn.BatchNorm()]]

    def __call__(self, x, train=False):
        for stage in self.stages:
            for l in stage:
                if isinstance(l, nn.Dropout):
                    x = l(x, deterministic=not train)
                elif isinstance(l, nn.BatchNorm):
                    x = l(x, use_running_average=not train)
                else:
                    x = l(x)
        return x


class FlagsOfConstructors(nn.Module):
    def setup(self):
        norm = nn.BatchNorm(use_running_average=True, dtype=jnp.bfloat16)
        self.net = (nn.Dense(4), nn.Dropout(0.5, deterministic=True), norm, nn.Dense(3, dtype=jnp.bfloat16))

    def __call__(self, x):
        for l in self.net:
            x = l(x) if not isinstance(l, (nn.Dropout, nn.BatchNorm)) else l(x) * 1.5
        return x


class ChainAsked(nn.Module):
    def setup(self):
        self.net = nn.Sequential([nn.Dense(4), nn.relu, nn.Dropout(0.5), nn.Dense(2)])

    def __call__(self, x, train=False):
        for l in self.net.layers:
            x = l(x, deterministic=not train) if isinstance(l, nn.Dropout) else l(x)
        return x


class TupleOfFile(nn.Module):
    def setup(self):
        self.net = [nn.Dense(4), nn.relu, nn.Dense(3), nn.LayerNorm()]

    def __call__(self, x):
        for l in self.net:
            x = l(x) * 2 if isinstance(l, KINDS) else l(x)
        return x


class TupleInTuple(nn.Module):
    def setup(self):
        self.net = [nn.Dense(4), nn.Dropout(0.5), nn.LayerNorm()]

    def __call__(self, x, train=False):
        for l in self.net:
            x = l(x) * 3 if isinstance(l, NESTED_KINDS) else l(x, deterministic=not train)
        return x


class KindOfClass(nn.Module):
    KIND = nn.Dense

    def setup(self):
        self.net = [nn.Dense(4), nn.relu, nn.Dense(3), nn.LayerNorm()]

    def __call__(self, x):
        for l in self.net:
            x = l(x) * 2 if isinstance(l, self.KIND) else l(x)
        return x


class KindsOfMethod(nn.Module):
    def setup(self):
        self.net = [nn.Dense(4), nn.relu, nn.Dense(3), nn.LayerNorm()]

    def __call__(self, x):
        kinds = (nn.Dense, nn.Conv)
        for l in self.net:
            x = l(x) * 2 if isinstance(l, kinds) else l(x)
        return x


class KindsOfField(nn.Module):
    kinds: tuple = (nn.Dense,)

    def setup(self):
        self.net = [nn.Dense(4), nn.relu, nn.Dense(3), nn.LayerNorm()]

    def __call__(self, x):
        for l in self.net:
            x = l(x) * 2 if isinstance(l, self.kinds) else l(x)
        return x


class KindsByDefault(nn.Module):
    def setup(self):
        self.net = [nn.Dense(4), nn.relu, nn.Dense(3), nn.LayerNorm()]

    def twice(self, l, x, kinds=(nn.Dense,)):
        return l(x) * 2 if isinstance(l, kinds) else l(x)

    def __call__(self, x):
        for l in self.net:
            x = self.twice(l, x)
        return x


def called(l, x, train):
    if isinstance(l, nn.Dropout):
        return l(x, deterministic=not train)
    return l(x)


class AskedByFunction(nn.Module):
    def setup(self):
        self.net = [nn.Dense(4), nn.Dropout(0.5), nn.Dense(3)]

    def __call__(self, x, train=False):
        for l in self.net:
            x = called(l, x, train)
        return x


class AttentionByDefault(nn.Module):
    attn: Any = nn.MultiHeadDotProductAttention

    @nn.compact
    def __call__(self, x):
        return self.attn(2)(x, x)


class AttentionByName(nn.Module):
    @nn.compact
    def __call__(self, x):
        make = nn.SelfAttention
        return make(2)(x)


CASES = [
    ("OtherNames", {}, [(2, 4)], {}),
    ("OtherNames", {"rate": 0.0}, [(2, 4)], {"train": True}),
    ("CellsAsked", {}, [(2, 3)], {}),
    ("StagesAsked", {}, [(2, 3)], {}),
    ("FlagsOfConstructors", {}, [(2, 3)], {}),
    ("ChainAsked", {}, [(2, 3)], {}),
    ("TupleOfFile", {}, [(2, 4)], {}),
    ("TupleInTuple", {}, [(2, 4)], {}),
    ("KindOfClass", {}, [(2, 4)], {}),
    ("KindsOfMethod", {}, [(2, 4)], {}),
    ("KindsOfField", {}, [(2, 4)], {}),
    ("KindsByDefault", {}, [(2, 4)], {}),
    ("AskedByFunction", {}, [(2, 4)], {}),
    ("AttentionByDefault", {}, [(2, 3, 4)], {}),
    ("AttentionByName", {}, [(2, 3, 4)], {}),
]
