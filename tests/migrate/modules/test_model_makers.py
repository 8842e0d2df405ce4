"""Class methods and static methods of module classes that only code outside of modules calls: what they make are models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from nnx_migrate.migrate.pipeline import RunResult, migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import module

HEAD = """
from typing import Any, Dict, Sequence
import jax
import jax.numpy as jnp
from flax import linen as nn

OBS = jnp.sin(jnp.arange(10.)).reshape(2, 5)


class Coder(nn.Module):
    width: int = 5
    @classmethod
    def doubled(cls, n):
        return cls(n * 2)
    @classmethod
    def twice(cls, n):
        return cls.doubled(n)
    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)


class Two(nn.Module):
    a: nn.Module
    b: int = 2
    @staticmethod
    def made(n):
        return Two(Coder(n))
    def __call__(self, x):
        return self.a(x) * self.b


class Both(nn.Module):
    a: nn.Module
    b: nn.Module = None
    @classmethod
    def of_one(cls, n):
        coder = Coder(n)
        return cls(coder, b=coder)
    def __call__(self, x):
        return self.b(self.a(x))


class Bundle(nn.Module):
    trunk: Coder
    heads: Dict[str, nn.Module]
    @classmethod
    def create(cls, heads, width=4):
        made = {name: of_table(*head) for name, head in heads.items()}
        trunk = Coder(width)
        return cls(trunk=trunk, heads=made)
    def __call__(self, x):
        h = self.trunk(x)
        return h, {name: head(h) for name, head in self.heads.items()}


def of_table(kind, width):
    return {"coder": Coder}[kind](width)


class Base(nn.Module):
    width: int
    @classmethod
    def of_config(cls, **options):
        model = cls(**options)
        return model, model.init(jax.random.PRNGKey(0), OBS)
    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(self.before(x))
    def before(self, x):
        return x


class Joined(Base):
    more: int = 2
    def before(self, x):
        return jnp.concatenate([x] * self.more, -1)


MODELS = {
    "cls": lambda: Coder.doubled(3),
    "a class method of a class method": lambda: Coder.twice(2),
    "a factory": lambda: Two.made(3),
    "a module that two parts share": lambda: Both.of_one(5),
    "a dict": lambda: Bundle.create({"b": ("coder", 3), "a": ("coder", 2)}),
    "a base": lambda: Base.of_config(width=3)[0],
    "a derived class": lambda: Joined.of_config(width=3)[0],
}
"""


def _migrated(text: str) -> RunResult:
    return migrate_project([SourceFile.parse(Path("makers.py"), "makers", text)])


@pytest.fixture(scope="module")
def sides() -> tuple[dict[str, Any], dict[str, Any]]:
    result = _migrated(HEAD)
    stay = {c.qualname: c.reason for c in result.classes if c.outcome != "native"}
    assert not stay, stay
    for path, created in result.created.items():
        module(path.stem, created)
    after = result.files[0].after
    assert after is not None and "TODO" not in after
    return vars(module("makers_linen_side", HEAD)), vars(module("makers", after))


def _shapes(tree: Any) -> Any:
    return jax.tree.map(lambda leaf: (jnp.shape(leaf), leaf.dtype), tree)


@pytest.mark.parametrize(
    "name",
    [
        *("cls", "a class method of a class method", "a factory", "a module that two parts share", "a dict", "a base"),
        "a derived class",
    ],
)
def test_what_they_make_computes_the_same(name: str, sides: Any) -> None:
    linen, native = (side["MODELS"][name]() for side in sides)
    obs = sides[0]["OBS"]
    variables = linen.init(jax.random.key(0), obs)
    assert _shapes(native.init(jax.random.key(0), obs)) == _shapes(variables)
    jax.tree.map(np.testing.assert_array_equal, native.apply(variables, obs), linen.apply(variables, obs))


INSIDE = """
from flax import linen as nn


class Inner(nn.Module):
    width: int
    @classmethod
    def of(cls, n):
        return cls(n)
    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)


class User(nn.Module):
    @nn.compact
    def __call__(self, x):
        return Inner.of(3)(x)


class Layered(nn.Module):
    parts: tuple
    @classmethod
    def of_layers(cls):
        return cls((nn.Dense(3), Inner(4)))
    def __call__(self, x):
        for part in self.parts:
            x = part(x)
        return x
"""


def test_those_that_modules_call_and_those_that_make_layers_are_left() -> None:
    outcomes = {c.qualname.partition(".")[2]: c.outcome for c in _migrated(INSIDE).classes}
    assert outcomes["User"] != "native" and outcomes["Layered"] != "native"
