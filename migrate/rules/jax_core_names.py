"""jax.core names that moved to jax.extend.core and jax.errors."""

from __future__ import annotations

from ..rule import Example, Rule
from ._renames import attach

RULE = Rule(
    code="NNX808",
    name="jax-core-name",
    summary="jax.core's types and helpers are in jax.extend.core and jax.errors",
    what=("Rewrites `jax.core.Jaxpr`, `Primitive`, `get_aval`, error classes and their like."),
    why="jax.core was emptied between 0.4.24 and 0.10.0.",
    how_sure=("by construction: the same objects; `get_aval` → `jax.typeof` as the removal note says"),
    examples=(
        Example(
            title="import",
            before="""\
from jax.core import Primitive, ShapedArray

p = Primitive('mine')
s = ShapedArray
""",
            after="""\
from jax.core import ShapedArray
from jax.extend.core import Primitive

p = Primitive('mine')
s = ShapedArray
""",
            run="""\
def check(before, after):
    assert after['p'].name == 'mine'
""",
        ),
        Example(
            title="attribute",
            before="""\
import jax

shape = jax.core.get_aval(1.0).shape
error = jax.core.UnexpectedTracerError
""",
            after="""\
import jax

shape = jax.typeof(1.0).shape
error = jax.errors.UnexpectedTracerError
""",
            run="""\
def check(before, after):
    assert after['shape'] == () and issubclass(after['error'], Exception)
""",
        ),
    ),
)
attach(RULE)
