"""Modules of jax that moved: linear_util, stax, optimizers, export, xla_bridge."""

from __future__ import annotations

from ..rule import Example, Rule
from ._renames import attach

RULE = Rule(
    code="NNX807",
    name="jax-moved-module",
    summary="linear_util, stax, optimizers, export and xla_bridge functions have new homes",
    what=("Rewrites imports and uses of modules that moved to `jax.extend`, `jax.example_libraries` and `jax.export`."),
    why=("The old paths are gone: linear_util 0.4.24, stax and optimizers 0.3.16, xla_bridge 0.8.0."),
    how_sure="by construction: the same modules",
    examples=(
        Example(
            title="module import",
            before="""\
from jax import linear_util as lu

wrap = lu.wrap_init
""",
            after="""\
from jax.extend import linear_util as lu

wrap = lu.wrap_init
""",
            run="""\
def check(before, after):
    assert callable(after['wrap'])
""",
        ),
        Example(
            title="xla_bridge",
            before="""\
from jax.lib import xla_bridge

platform = xla_bridge.get_backend().platform
""",
            after="""\
from jax.extend import backend as jex_backend

platform = jex_backend.get_backend().platform
""",
            run="""\
def check(before, after):
    assert after['platform'] == 'cpu'
""",
        ),
        Example(
            title="partial",
            before="""\
import jax

add = jax.partial(max, 1)
""",
            after="""\
import functools

add = functools.partial(max, 1)
""",
            run="""\
def check(before, after):
    assert after['add'](2) == 2
""",
        ),
    ),
)
attach(RULE)
