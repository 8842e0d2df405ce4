"""Modules of several kinds, and items of lists and dicts, have variables under the conditions of their calls alone."""

from __future__ import annotations

import re

import jax
import jax.numpy as jnp
import pytest
from flax import nnx
from nnx_migrate import compat

from .loading import both_sides

PROGRAM = """from flax import linen as nn


class Alt(nn.Module):
    pure: bool = False
    cross: bool = False

    def setup(self):
        cls = nn.Dense if self.cross else nn.DenseGeneral
        self.a1 = cls(5)
        self.a2 = cls(5)

    def __call__(self, x):
        if self.pure:
            return self.a2(x)
        return self.a1(x) + self.a2(x)


class Alt3(nn.Module):
    pure: bool = False
    cross: bool = False

    def setup(self):
        if self.cross:
            cls = nn.Dense
        else:
            cls = nn.DenseGeneral
        self.a1 = cls(5)
        self.a2 = cls(5)

    def __call__(self, x):
        if self.pure:
            return self.a2(x)
        return self.a1(x) + self.a2(x)


class Tern(nn.Module):
    pure: bool = False
    cross: bool = False

    def setup(self):
        self.a1 = nn.Dense(5) if self.cross else nn.DenseGeneral(5)
        self.a2 = nn.Dense(5)

    def __call__(self, x):
        if self.pure:
            return self.a2(x)
        return self.a1(x) + self.a2(x)


class Dct(nn.Module):
    pure: bool = False

    def setup(self):
        self.a1 = {'u': nn.Dense(5), 'v': nn.Dense(5)}
        self.a2 = nn.Dense(5)

    def __call__(self, x):
        if self.pure:
            return self.a2(x)
        return self.a1['u'](x) + self.a1['v'](x) + self.a2(x)


class ListD(nn.Module):
    pure: bool = False

    def setup(self):
        self.a1 = [nn.Dense(5), nn.LayerNorm()]
        self.a2 = nn.Dense(5)

    def __call__(self, x):
        if self.pure:
            return self.a2(x)
        for l in self.a1:
            x = l(x)
        return x + self.a2(x)


class ListI(nn.Module):
    pure: bool = False

    def setup(self):
        self.a1 = [nn.Dense(5), nn.LayerNorm()]
        self.a2 = nn.Dense(5)

    def __call__(self, x):
        if self.pure:
            return self.a2(self.a1[0](x))
        return self.a1[1](x) + self.a2(self.a1[0](x))


class CompAlt(nn.Module):
    pure: bool = False
    cross: bool = False

    @nn.compact
    def __call__(self, x):
        cls = nn.Dense if self.cross else nn.DenseGeneral
        a1 = cls(5)
        a2 = cls(5)
        if self.pure:
            return a2(x)
        return a1(x) + a2(x)


class CompTern(nn.Module):
    pure: bool = False
    cross: bool = False

    @nn.compact
    def __call__(self, x):
        a1 = nn.Dense(5) if self.cross else nn.DenseGeneral(5)
        a2 = nn.Dense(5)
        if self.pure:
            return a2(x)
        return a1(x) + a2(x)


class CompDict(nn.Module):
    pure: bool = False

    @nn.compact
    def __call__(self, x):
        a1 = {'u': nn.Dense(5), 'v': nn.Dense(5)}
        a2 = nn.Dense(5)
        if self.pure:
            return a2(x)
        return a1['u'](x) + a1['v'](x) + a2(x)


class CompList(nn.Module):
    pure: bool = False

    @nn.compact
    def __call__(self, x):
        a1 = [nn.Dense(5), nn.Dense(5)]
        a2 = nn.Dense(5)
        if self.pure:
            return a2(x)
        for l in a1:
            x = l(x)
        return x + a2(x)


class AltDiff(nn.Module):
    pure: bool = False
    cross: bool = False

    def setup(self):
        cls = nn.Dense if self.cross else nn.DenseGeneral
        self.a1 = cls(5)
        self.a2 = nn.Dense(5)

    def __call__(self, x):
        if self.pure and self.cross:
            return self.a2(x)
        if self.cross:
            x = self.a2(x)
        return self.a1(x) + self.a2(x)


class AltNested(nn.Module):
    pure: bool = False
    cross: int = 0

    def setup(self):
        self.a1 = nn.Dense(5) if self.cross == 0 else nn.LayerNorm() if self.cross == 1 else nn.RMSNorm()
        self.a2 = nn.Dense(5)

    def __call__(self, x):
        if not self.pure:
            x = self.a1(x)
        return self.a2(x)


class CompNested(nn.Module):
    pure: bool = False
    cross: int = 0

    @nn.compact
    def __call__(self, x):
        a1, a2 = nn.Dense(5) if self.cross == 0 else nn.LayerNorm() if self.cross == 1 else nn.RMSNorm(), nn.Dense(5)
        if not self.pure:
            x = a1(x)
        return a2(x)


class NonePart(nn.Module):
    pure: bool = False
    cross: int = 0

    def setup(self):
        self.a1 = nn.Dense(5) if self.cross == 0 else (lambda x: x)
        self.a2 = nn.Dense(5)

    def __call__(self, x):
        if not self.pure:
            x = self.a1(x)
        return self.a2(x)


class DictItems(nn.Module):
    pure: bool = False

    def setup(self):
        self.a1 = {'u': nn.Dense(5), 'v': nn.Dense(5)}
        self.a2 = nn.Dense(5)

    def __call__(self, x):
        if self.pure:
            return self.a2(x)
        for k in ('u', 'v'):
            x = self.a1[k](x)
        return self.a2(x)


class DictVals(nn.Module):
    pure: bool = False

    def setup(self):
        self.a1 = {'u': nn.Dense(5), 'v': nn.Dense(5)}
        self.a2 = nn.Dense(5)

    def __call__(self, x):
        if self.pure:
            return self.a2(x)
        for k, l in self.a1.items():
            x = l(x)
        return self.a2(x)


class OneItem(nn.Module):
    pure: bool = False

    def setup(self):
        self.a1 = {'u': nn.Dense(5), 'v': nn.Dense(5)}
        self.a3 = [nn.Dense(5), nn.Dense(5)]
        self.a2 = nn.Dense(5)

    def __call__(self, x):
        x = self.a3[0](self.a1['u'](x))
        if self.pure:
            return self.a2(x)
        return self.a2(self.a1['v'](self.a3[1](x)))
"""
FIELDS = {
    name: re.findall(r"^    (pure|cross):", text, re.M)
    for name, text in re.findall(r"^class (\w+)(.*?)(?=^class |\Z)", PROGRAM, re.M | re.S)
}
CASES = [
    (name, {"pure": pure, **({"cross": cross} if "cross" in fields else {})})
    for name, fields in FIELDS.items()
    for pure in (False, True)
    for cross in ((0, 1, 2) if "cross" in fields else (0,))
]


@pytest.fixture(scope="module")
def sides():
    return both_sides("kinds_called_under_conditions", PROGRAM)


@pytest.mark.parametrize(("name", "fields"), CASES)
def test_what_is_not_called_has_no_variables(sides, name: str, fields: dict[str, object]) -> None:
    before, after = sides
    linen = getattr(before, name)(**fields)
    x = jnp.linspace(-1, 1, 10).reshape((2, 5))
    variables = linen.init(jax.random.key(0), x)
    assert compat.check_equivalence(linen, variables, getattr(after, name)(**fields, in_features=5, rngs=nnx.Rngs(0)), x)
