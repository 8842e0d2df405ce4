"""Sizes by names of another file, where the file of the class has something else by that name, or nothing."""

from __future__ import annotations

import ast

import jax
import pytest
from flax import nnx
from nnx_migrate import compat

from .loading import both_sides, migrated, project_sides

TABLES = """import enum

SIZE = 4
SIZE *= 2
WIDTHS = {"a": 5, "b": 6}


class Kind(enum.Enum):
    A = 3
    B = 4
"""
BODIES = """import functools
from typing import Sequence

import numpy as np
from flax import linen as nn

import tables
from tables import *
from tables import SIZE as S, Kind

LOCAL = {"a": 3, "b": 4}
WIDTH = 4
WIDTH += 1
SIZES = (3, 4)
SIZES = SIZES + (5,)


class Table(nn.Module):
    key: str = "a"

    @nn.compact
    def __call__(self, x):
        return nn.Dense(LOCAL[self.key])(x)


class Sum(nn.Module):
    key: str = "a"

    @nn.compact
    def __call__(self, x):
        return nn.Dense(WIDTHS[self.key] + S)(nn.Dense(tables.WIDTHS[self.key])(x))


class Listed(nn.Module):
    kind: Kind = Kind.A

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(int(np.prod((2, S))))(x)
        return nn.Dense(self.kind.value if self.kind is Kind.B else LOCAL["a"])(x)


class Wide(nn.Module):
    width = LOCAL["b"]
    width_of_it: int = 2

    @property
    def out(self):
        return WIDTH + self.width

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.out)(x)


class Looped(nn.Module):
    sizes: Sequence[int] = SIZES

    @nn.compact
    def __call__(self, x):
        for width in LOCAL.values():
            x = nn.Dense(width)(x)
        for width in self.sizes:
            x = nn.Dense(width)(x)
        return x


class Setup(nn.Module):
    key: str = "a"

    def setup(self):
        self.number = LOCAL[self.key]
        self.dense = nn.Dense(self.number)
        if len(LOCAL) < WIDTH:
            self.more = nn.Dense(LOCAL[self.key])

    def __call__(self, x):
        x = self.dense(x)
        if len(LOCAL) < WIDTH:
            x = self.more(x)
        return x


class Inside(nn.Module):
    key: str = "a"

    @nn.compact
    def __call__(self, x):
        from tables import WIDTHS as TABLE

        return nn.Dense(TABLE[self.key])(x)


class Counted(nn.Module):
    key: str = "a"

    @nn.compact
    def __call__(self, x):
        return nn.Dense(max(LOCAL[self.key], 1) + len(LOCAL))(x)


def made(x, key):
    return nn.Dense(LOCAL[key])(x)


def width_of(key):
    return LOCAL[key] + WIDTH


make_dense = functools.partial(nn.Dense, WIDTH)
"""
USER = """from flax import linen as nn

{imports}

WIDTH = 100
LOCAL = {{"a": 30, "b": 7}}
S = 50
SIZES = (1, 2)
WIDTHS = TABLE = {{"a": 50, "b": 60}}


def max(*sizes):
    return 11


def len(items):
    return 12


{body}
"""
OWN = """class Own(nn.Module):
    key: str = "b"

    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)({inner})
"""
DERIVED = """class Own(bodies.{base}):
    own: int = 2

    @nn.compact
    def __call__(self, x):
        x = super().__call__(x)
        return nn.Dense(self.own)(x)
"""
COPIED = """class Own(bodies.{base}):
    own: int = 2
"""
WITH_SETUP = """class Own(bodies.Setup):
    own: int = 2

    def setup(self):
        super().setup()
        self.last = nn.Dense(self.number + self.own)

    def __call__(self, x):
        return self.last(super().__call__(x))
"""
NAMES = "from bodies import Table, Sum, Listed, Wide, Looped, Setup, Inside, Counted, made, width_of, make_dense"
CASES = {
    "a table": (NAMES, OWN.format(inner="Table(self.key)(x)")),
    "a table by its default": (NAMES, OWN.format(inner="Table()(x)")),
    "a sum": (NAMES, OWN.format(inner="Sum(self.key)(x)")),
    "an item of an enumeration": (NAMES, OWN.format(inner="Listed()(x)")),
    "what a class says": (NAMES, OWN.format(inner="Wide()(x)")),
    "a table that a method imports": (NAMES, OWN.format(inner="Inside()(x)")),
    "a builtin that the file has, too": (NAMES, OWN.format(inner="Counted(self.key)(x)")),
    "loops": (NAMES, OWN.format(inner="Looped()(x)")),
    "setup": (NAMES, OWN.format(inner="Setup(self.key)(x)")),
    "a function that makes a layer": (NAMES, OWN.format(inner="made(x, self.key)")),
    "a function of a size": (NAMES, OWN.format(inner="nn.Dense(width_of(self.key))(x)")),
    "a partial": (NAMES, OWN.format(inner="make_dense()(x)")),
    "by the module": ("import bodies", OWN.format(inner="bodies.Sum(self.key)(bodies.Table()(x))")),
    **{f"derived from {b}": ("import bodies", DERIVED.format(base=b)) for b in ("Table", "Sum", "Wide")},
    **{
        f"a field more than {b}": ("import bodies", COPIED.format(base=b))
        for b in ("Table", "Sum", "Listed", "Looped", "Setup", "Inside")
    },
    "derived with setup": ("import bodies", WITH_SETUP),
    "a field called as the module": ("import bodies", "class Own(bodies.Sum):\n    bodies: int = 3\n"),
}


@pytest.mark.parametrize("case", CASES)
def test_they_are_those_of_that_file(case: str) -> None:
    imports, body = CASES[case]
    texts = {"tables": TABLES, "bodies": BODIES, "user": USER.format(imports=imports, body=body)}
    before, native = project_sides(texts, migrated(texts))
    x = jax.random.normal(jax.random.key(0), (2, 4))
    linen, model = before.Own(), native.Own(in_features=4, rngs=nnx.Rngs(0))
    assert compat.check_equivalence(linen, linen.init(jax.random.key(1), x), model, x)


@pytest.mark.parametrize(
    "body", [DERIVED.format(base="Inside"), DERIVED.format(base="Counted"), COPIED.format(base="Counted")]
)
def test_names_that_mean_something_else_here_are_not_said(body: str) -> None:
    result = migrated({"tables": TABLES, "bodies": BODIES, "user": USER.format(imports="import bodies", body=body)})
    found = next(c for c in result.classes if c.qualname == "user.Own")
    assert found.code == "NNX135" and "__" not in found.reason


@pytest.mark.parametrize(
    "more",
    [
        "def widen():\n    global LOCAL\n    LOCAL = {}\n",
        "import user\n",
        "try:\n    import user\nexcept ImportError:\n    pass\n",
    ],
    ids=["set by a function", "a circle of imports", "perhaps a circle of imports"],
)
def test_names_that_cannot_be_imported_are_not(more: str) -> None:
    bodies = BODIES + "\n\n" + more
    user = USER.format(imports=NAMES, body=OWN.format(inner="made(x, self.key)"))
    texts = {"tables": TABLES, "bodies": bodies, "user": user}
    result = migrated(texts)
    plan = next(c for c in result.classes if c.qualname == "user.Own")
    assert plan.code == "NNX135" and "__of__" not in plan.reason
    assert all("__of__" not in str(file.after) and ast.parse(str(file.after or "")) for file in result.files)


ONE_FILE = """from typing import Any

from flax import linen as nn

LOCAL = {"a": 3, "b": 4}
SIZE = 4
SIZE *= 2


class Table(nn.Module):
    key: str = "a"

    @nn.compact
    def __call__(self, x):
        return nn.Dense(LOCAL[self.key])(x)


class Sized(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(SIZE)(x)


class Default(nn.Module):
    width: int = SIZE

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)


class OfDefault(nn.Module):
    SIZE: int = 3

    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(Default()(nn.Dense(self.SIZE)(x)))


class Field(nn.Module):
    LOCAL: Any = None

    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(Table()(x))


class Size(nn.Module):
    SIZE: int = 3

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.SIZE)(x)
        return nn.Dense(2)(Sized()(x))


class Loop(nn.Module):
    @nn.compact
    def __call__(self, x):
        for SIZE in (5, 6):
            x = nn.Dense(SIZE)(x)
            x = Sized()(x)
        return nn.Dense(2)(x)


class Setup(nn.Module):
    def setup(self):
        LOCAL = {"a": 7}
        self.first = nn.Dense(LOCAL["a"])
        self.table = Table()
        self.last = nn.Dense(2)

    def __call__(self, x):
        return self.last(self.table(self.first(x)))


class Builtin(nn.Module):
    len: int = 3

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.len)(x)
        return nn.Dense(2)(Counted()(x))


class Counted(nn.Module):
    key: str = "a"

    @nn.compact
    def __call__(self, x):
        return nn.Dense(len(LOCAL) + LOCAL[self.key])(x)
"""


@pytest.mark.parametrize("name", ["OfDefault", "Field", "Size", "Loop", "Setup", "Builtin"])
def test_names_that_the_class_has_for_something_else(name: str) -> None:
    before, native = both_sides("hidden_sizes", ONE_FILE)
    x = jax.random.normal(jax.random.key(0), (2, 4))
    linen, model = getattr(before, name)(), getattr(native, name)(in_features=4, rngs=nnx.Rngs(0))
    assert compat.check_equivalence(linen, linen.init(jax.random.key(1), x), model, x)
