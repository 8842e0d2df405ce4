"""Factories that stand in where a field holds none: `norm = self.norm or nn.LayerNorm`."""

import functools
from typing import Any, Callable, Optional

import jax.numpy as jnp
from flax import linen as nn


class Or(nn.Module):
    """Nothing in the project gives the field: it is taken for what stands in for it."""

    norm: Optional[Callable] = None

    @nn.compact
    def __call__(self, x):
        norm = self.norm or nn.LayerNorm
        x = norm()(nn.Dense(4)(x))
        return norm(name="second", use_bias=False)(x)


class AskedFirst(nn.Module):
    norm: Optional[Callable] = None

    @nn.compact
    def __call__(self, x):
        norm = functools.partial(nn.LayerNorm, epsilon=1e-2) if self.norm is None else self.norm
        return norm(name="n")(nn.Dense(4)(x))


class InSetup(nn.Module):
    norm: Optional[Any] = None
    widths: tuple = (3, 4)

    def setup(self):
        norm = self.norm if self.norm is not None else nn.LayerNorm
        self.first = norm()
        self.more = [norm() for _ in self.widths]
        self.layers = [nn.Dense(w) for w in self.widths]

    def __call__(self, x):
        x = self.first(x)
        for layer, norm in zip(self.layers, self.more):
            x = norm(layer(x))
        return x


class ChosenItems(nn.Module):
    """The loop has no name for the width that each of its chosen modules needs."""

    plain: bool = True
    widths: tuple = (3, 4)

    def setup(self):
        norm = nn.LayerNorm if self.plain else nn.RMSNorm
        self.norms = [norm() for _ in self.widths]
        self.layers = [nn.Dense(w) for w in self.widths]

    def __call__(self, x):
        for layer, norm in zip(self.layers, self.norms):
            x = norm(layer(x))
        return x


class Given(nn.Module):
    """The field is given another kind, too, which names what it makes."""

    norm: Optional[Callable] = None
    width: int = 4

    @nn.compact
    def __call__(self, x):
        norm = self.norm or nn.LayerNorm
        x = nn.Dense(self.width)(x)
        return nn.Dense(2)(norm()(x)) + norm(name="other")(x).sum()


class User(nn.Module):
    def setup(self):
        self.plain = Given()
        self.other = Given(norm=functools.partial(nn.RMSNorm, epsilon=1e-3))

    def __call__(self, x):
        return self.plain(x) + self.other(x)


class ByFlag(nn.Module):
    """One of the field's modules or another, by another field."""

    block: Callable = nn.Dense
    own: bool = True

    @nn.compact
    def __call__(self, x):
        make = self.block if self.own else functools.partial(nn.DenseGeneral, axis=-1)
        return make(5)(x) + make(5, name="b")(x)


class Function(nn.Module):
    """What stands in is a function: the field holds functions."""

    act: Optional[Callable] = None

    @nn.compact
    def __call__(self, x):
        act = self.act or jnp.tanh
        return act(nn.Dense(3)(x))


CASES = [
    ("Or", {}, ((2, 3),), {}),
    ("AskedFirst", {}, ((2, 3),), {}),
    ("InSetup", {}, ((2, 3),), {}),
    ("ChosenItems", {}, ((2, 3),), {}),
    ("ChosenItems", {"plain": False}, ((2, 3),), {}),
    ("Given", {}, ((2, 3),), {}),
    ("User", {}, ((2, 3),), {}),
    ("ByFlag", {}, ((2, 3),), {}),
    ("ByFlag", {"own": False}, ((2, 3),), {}),
    ("Function", {}, ((2, 3),), {}),
]
