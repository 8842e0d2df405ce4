"""Modules of which the call decides which has a name, and with it the parameters: both sides over several calls."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.context import Options
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import both_sides

HEAD = """
import functools
from typing import Any
import jax.numpy as jnp
from flax import linen as nn


class Block(nn.Module):
    scale: float = 1.0
    norm: Any = None

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(4)(x)
        return (x if self.norm is None else self.norm(x)) * self.scale


def make(scale, x):
    return Block(scale)(x)

"""


def model(body: str, fields: str = "pre: bool = True", name: str = "Model") -> str:
    lines = "\n".join(f"        {line}" for line in body.split("\n"))
    return f"\nclass {name}(nn.Module):\n    {fields}\n\n    @nn.compact\n    def __call__(self, x, mask=None):\n{lines}\n"


# Made alike, in an order that no call changes, or with parameters of which Linen would miss some.
NATIVE = {
    "Before": "x = Block(1.0)(x)\nif mask is not None:\n    x = Block(2.0)(x)\nreturn x",
    "Together": "if mask is not None:\n    x = Block(2.0)(x)\n    x = Block(3.0)(x)\nreturn x",
    "Alike": "if mask is not None:\n    return Block(2.0)(x)\nreturn Block(2.0)(x)",
    "Default": "if mask is not None:\n    return Block(1.0)(x)\nreturn Block()(x)",
    "Shifted": "if mask is not None:\n    x = nn.Dense(4, kernel_init=nn.initializers.ones)(x)\nreturn nn.Dense(4)(x)",
    "ByWidth": "if mask is not None:\n    x = nn.Dense(4)(x)\nreturn nn.Dense(x.shape[-1])(x)",
    "ByField": "if self.pre:\n    return Block(2.0)(x)\nreturn Block(3.0)(x)",
    "ByName": "pre = self.pre\nscale = 2\nif pre and scale > 1:\n    x = Block(2.0, name='b')(x)\n"
    "else:\n    x = Block(3.0, name='b')(x)\nreturn x",
    "Parameter": "if mask is None:\n    return x + self.param('b', nn.initializers.ones, (4,))\n"
    "return x * self.param('b', nn.initializers.zeros, (4,))",
    "Fewer": "if mask is not None:\n    x = x + nn.Dense(4, use_bias=False)(mask)\nreturn nn.Dense(4)(x)",
}
CALLS = [(True, False, True), (False, False)]


@pytest.fixture(scope="module")
def sides() -> Any:
    return both_sides("names", HEAD + "".join(model(body, name=name) for name, body in NATIVE.items()))


@pytest.mark.parametrize("masked", CALLS, ids=str)
@pytest.mark.parametrize("name", NATIVE)
def test_every_call_is_that_of_linen_or_raises_with_it(sides: Any, name: str, masked: tuple[bool, ...]) -> None:
    linen, native = (getattr(side, name) for side in sides)
    x, mask = jnp.sin(jnp.arange(12.0)).reshape(3, 4), jnp.cos(jnp.arange(12.0)).reshape(3, 4)
    inputs = [(x, mask) if has else (x,) for has in masked]
    variables, made = made_for(linen, native, *inputs[0])
    for given in inputs:
        try:
            expected = linen().apply(variables, *given)
        except Exception:  # parameters that are missing, or of another shape
            if name != "Fewer":
                raise
            continue
        np.testing.assert_array_equal(expected, made(*given))


# The same where a call decides as the first one did; else it raises.
TOLD_APART = {
    "SidesOfACondition": "if mask is None:\n    x = Block(2.0)(x)\nelse:\n    x = Block(3.0)(x)\nreturn x",
    "BehindAReturn": "if mask is None:\n    return Block(2.0)(x)\nreturn Block()(x)",
    "InAnExpression": "return Block(2.0, name='b')(x) if mask is None else Block(3.0, name='b')(x)",
    "UnderNamesOfALoop": (
        "for i in range(2):\n    n = f'b_{i}'\n"
        "    x = Block(2.0, name=f'b_{i}')(x) if mask is None else Block(3.0, name=f'b_{i}')(x)\nreturn x"
    ),
    "OneThatComesFirst": "if mask is None:\n    x = Block(2.0)(x)\nreturn Block(3.0)(x)",
    "OfThree": "if mask is None:\n    x = Block(2.0)(x)\nx = Block(2.0)(x)\nreturn Block(3.0)(x)",
    "Layers": "return nn.LayerNorm(epsilon=0.5)(x) if mask is None else nn.LayerNorm()(x)",
    "CalledLater": "b = Block(2.0) if mask is None else Block(3.0)\nreturn b(x) + b(2 * x)",
    "ByALength": "if x.shape[0] > 2:\n    return Block(2.0)(x)\nreturn Block(3.0)(x)",
    "ByARank": "if x.ndim == 2:\n    return Block(2.0)(x)\nreturn Block(3.0)(x)",
    "ByAFieldAndTheCall": "if self.pre and mask is None:\n    return Block(2.0)(x)\nreturn Block(3.0)(x)",
    "ByANameForIt": "has = mask is not None\nif has:\n    return Block(2.0)(x)\nreturn Block(3.0)(x)",
    "WhatTheyAreHanded": "if mask is None:\n    return Block()(x)\nreturn Block(norm=nn.LayerNorm())(x)",
    "UnderATransform": "return nn.remat(Block)(2.0)(x) if mask is None else nn.remat(Block)(3.0)(x)",
    "OfALength": "if mask is None:\n    return Block(2.0)(x).sum(-1)\nif mask.shape[0] > 2:\n"
    "    return Block(3.0)(x)\nreturn Block(4.0)(x)",
}
SHORT = jnp.sin(jnp.arange(8.0)).reshape(2, 4)
TALL = jnp.sin(jnp.arange(24.0)).reshape(2, 3, 4)


@pytest.fixture(scope="module")
def apart() -> Any:
    return both_sides("apart", HEAD + "".join(model(body, name=name) for name, body in TOLD_APART.items()))


@pytest.mark.parametrize("name", TOLD_APART)
def test_a_call_that_decides_otherwise_raises(apart: Any, name: str) -> None:
    linen, native = (getattr(side, name) for side in apart)
    x, mask = jnp.sin(jnp.arange(12.0)).reshape(3, 4), jnp.cos(jnp.arange(12.0)).reshape(3, 4)
    calls = [(x,), (x, mask), (SHORT, SHORT), (TALL,)]
    raised = 0
    for first in calls:
        variables, made = made_for(linen, native, *first)
        np.testing.assert_array_equal(linen().apply(variables, *first), made(*first))
        for other in calls:
            try:
                expected = linen().apply(variables, *other)
            except Exception:  # parameters that are missing
                continue
            try:
                result = made(*other)
            except ValueError as error:
                assert "made for another place of the call" in str(error)
                raised += 1
                continue
            np.testing.assert_array_equal(expected, result)
    assert raised


def made_for(linen: Any, native: Any, x: Any, mask: Any = None) -> tuple[Any, Any]:
    """The variables of Linen, and the module of NNX with them, for a first call."""
    given = (x,) if mask is None else (x, mask)
    variables = linen().init(jax.random.key(0), *given)
    variables = jax.tree.map(lambda leaf: jnp.sin(jnp.arange(1.0, leaf.size + 1)).reshape(leaf.shape), variables)
    sizes = {
        **{"in_features": 4, "in_shape": x.shape},
        **{"mask_features": None if mask is None else 4, "mask_shape": None if mask is None else mask.shape},
    }
    asked = inspect.signature(native.__init__).parameters
    made = native(**{key: value for key, value in sizes.items() if key in asked}, rngs=nnx.Rngs(0))
    compat.from_linen(variables, made)
    return variables, made


def test_a_class_is_left_that_may_not_raise() -> None:
    text = HEAD + model(TOLD_APART["BehindAReturn"])
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)], Options(ignore=("NNX187",)))
    assert {c.qualname: c.code for c in result.classes}["m.Model"] == "NNX152"


REFUSED = {
    "in a loop": "for i in range(2):\n    x = Block(2.0)(x) if mask is None else Block(3.0)(x)\nreturn x",
    "by a helper": "return make(2.0, x) if mask is None else make(3.0, x)",
    "around others": "d = nn.Dense(4)\n"
    "if mask is None:\n    return nn.Sequential([d, nn.relu])(x)\nreturn nn.Sequential([d])(x)",
    "handed to another": "if mask is None:\n    return Block(norm=nn.LayerNorm(epsilon=0.5))(x)\n"
    "return Block(norm=nn.LayerNorm())(x)",
}


@pytest.mark.parametrize("body", REFUSED.values(), ids=REFUSED)
def test_what_the_call_decides_stays_linen(body: str) -> None:
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", HEAD + model(body))])
    plan = {c.qualname: c for c in result.classes}["m.Model"]
    assert plan.outcome == "bridged" and plan.code in ("NNX152", "NNX113", "NNX157"), (plan.code, plan.reason)
