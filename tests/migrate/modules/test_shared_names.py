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
    variables = linen().init(jax.random.key(0), *inputs[0])
    variables = jax.tree.map(lambda leaf: jnp.sin(jnp.arange(1.0, leaf.size + 1)).reshape(leaf.shape), variables)
    asked = inspect.signature(native.__init__).parameters
    sizes = {"in_features": 4, "mask_features": 4 if masked[0] else None}
    made = native(**{key: value for key, value in sizes.items() if key in asked}, rngs=nnx.Rngs(0))
    compat.from_linen(variables, made)
    for given in inputs:
        try:
            expected = linen().apply(variables, *given)
        except Exception:  # parameters that are missing, or of another shape
            if name != "Fewer":
                raise
            continue
        np.testing.assert_array_equal(expected, made(*given))


REFUSED = {
    "on the two sides of a condition": "if mask is None:\n    x = Block(2.0)(x)\nelse:\n    x = Block(3.0)(x)\nreturn x",
    "behind a return": "if mask is None:\n    return Block(2.0)(x)\nreturn Block()(x)",
    "in an expression": "return Block(2.0, name='b')(x) if mask is None else Block(3.0, name='b')(x)",
    "in a loop": "for i in range(2):\n    x = Block(2.0)(x) if mask is None else Block(3.0)(x)\nreturn x",
    "under names of a loop": (
        "for i in range(2):\n    n = f'b_{i}'\n"
        "    x = Block(2.0, name=f'b_{i}')(x) if mask is None else Block(3.0, name=f'b_{i}')(x)\nreturn x"
    ),
    "by a helper": "return make(2.0, x) if mask is None else make(3.0, x)",
    "one that comes first in some calls": "if mask is None:\n    x = Block(2.0)(x)\nreturn Block(3.0)(x)",
    "layers": "return nn.LayerNorm(epsilon=0.5)(x) if mask is None else nn.LayerNorm()(x)",
    "what is called later": "b = Block(2.0) if mask is None else Block(3.0)\nreturn b(x)",
    "by a length": "if x.shape[0] > 2:\n    return Block(2.0)(x)\nreturn Block(3.0)(x)",
    "by a rank": "if x.ndim == 2:\n    return Block(2.0)(x)\nreturn Block(3.0)(x)",
    "by a field and the call": "if self.pre and mask is None:\n    return Block(2.0)(x)\nreturn Block(3.0)(x)",
    "by a name for it": "has = mask is not None\nif has:\n    return Block(2.0)(x)\nreturn Block(3.0)(x)",
    "what they are handed": "if mask is None:\n    return Block()(x)\nreturn Block(norm=nn.LayerNorm())(x)",
    "under a transform": "return nn.remat(Block)(2.0)(x) if mask is None else nn.remat(Block)(3.0)(x)",
}


@pytest.mark.parametrize("body", REFUSED.values(), ids=REFUSED)
def test_what_the_call_decides_stays_linen(body: str) -> None:
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", HEAD + model(body))])
    plan = {c.qualname: c for c in result.classes}["m.Model"]
    assert plan.outcome == "bridged" and plan.code in ("NNX152", "NNX113", "NNX157"), (plan.code, plan.reason)
