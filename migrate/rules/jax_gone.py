"""What jax removed without a drop-in successor: reported, with what to do."""

from __future__ import annotations

from ..rule import Example, Rule
from ._renames import attach

RULE = Rule(
    code="NNX811",
    name="jax-gone",
    summary=("xmap, host_callback, PositionalSharding, xla_computation and others have no drop-in successor"),
    what="Leaves the code as it is, marks it and says what replaces it.",
    why="Their successors work differently enough that a person must choose.",
    how_sure="diagnostic only",
    examples=(
        Example(
            title="xmap",
            before="""\
from jax.experimental.maps import xmap

f = xmap(sum, in_axes=({0: 'i'},), out_axes={})
""",
            after=None,
        ),
        Example(
            title="PositionalSharding",
            before="""\
import jax

s = jax.sharding.PositionalSharding(jax.devices())
""",
            after=None,
        ),
    ),
)
attach(RULE)
