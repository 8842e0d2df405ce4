"""Factories of dot_general (`dot_general_cls=`) that code outside of the class decides about: None, functions, modules."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen, nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import both_sides

PROGRAM = """
from typing import Any
import jax
from flax import linen as nn


class OfAField(nn.Module):
    maker: Any = None

    @nn.compact
    def __call__(self, x):
        return nn.Dense(4, dot_general_cls=self.maker)(x)


class OfSetup(nn.Module):
    quant: Any = None

    def setup(self):
        maker = None
        if self.quant:
            maker = self.quant.maker()
        self.query = nn.DenseGeneral((2, 2), dot_general_cls=maker)

    def __call__(self, x):
        return self.query(x)


class OfACall(nn.Module):
    quant: Any = None

    @nn.compact
    def __call__(self, x):
        maker = self.quant.maker() if self.quant else None
        return nn.Dense(4, dot_general_cls=maker)(x)
"""


def doubled(*args: Any, **options: Any) -> jax.Array:
    return 2 * jax.lax.dot_general(*args, **options)


MAKERS = {"none": None, "plain": lambda: doubled, "partial": lambda: functools.partial(doubled)}


class Quant:
    def __init__(self, made: Any) -> None:
        self.made = made

    def maker(self) -> Any:
        return self.made


@pytest.fixture(scope="module")
def sides() -> Any:
    return both_sides("makers", PROGRAM)


@pytest.mark.parametrize("name", ["OfAField", "OfSetup", "OfACall"])
@pytest.mark.parametrize("maker", MAKERS.values(), ids=MAKERS)
def test_functions_compute_as_in_linen(sides: Any, name: str, maker: Any) -> None:
    linen_side, native = (getattr(side, name) for side in sides)
    given = maker if name == "OfAField" else None if maker is None else Quant(maker)
    x = jnp.sin(jnp.arange(12.0)).reshape(3, 4)
    variables = linen_side(given).init(jax.random.key(0), x)
    made = native(given, in_features=4, rngs=nnx.Rngs(0))
    compat.from_linen(variables, made)
    np.testing.assert_array_equal(linen_side(given).apply(variables, x), made(x))


@pytest.mark.parametrize("name", ["OfAField", "OfSetup", "OfACall"])
def test_modules_raise_where_the_model_is_made(sides: Any, name: str) -> None:
    maker = linen.Fp8DotGeneralOp
    given: Any = maker if name == "OfAField" else Quant(maker)
    with pytest.raises(TypeError, match=r"dot_general_cls makes a Linen module \(Fp8DotGeneralOp\)"):
        getattr(sides[1], name)(given, in_features=4, rngs=nnx.Rngs(0))


def test_modules_that_the_program_gives_stay_linen() -> None:
    text = PROGRAM + "\n\nclass Outer(nn.Module):\n    @nn.compact\n    def __call__(self, x):\n"
    text += "        return OfAField(maker=nn.Fp8DotGeneralOp)(x) + nn.Dense(4, dot_general_cls=nn.Fp8DotGeneralOp)(x)\n"
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    found = {c.qualname: str(c.outcome) for c in result.classes}
    assert (found["m.Outer"], found["m.OfAField"], found["m.OfSetup"]) == ("bridged", "bridged", "native")
