"""What is computed where an argument is not given: `if outputs is None: outputs = self.encoder(x)`.

Of an argument that holds several parts (`outputs[0]`, `outputs.last`) nothing is known but that the code goes on with it
as with what stands in for it. Its parts are taken to have the same sizes; with others a layer fails when it is called.
"""

from __future__ import annotations

import dataclasses

from ..values.bundles import Bundle
from ..values.presence import Step, asked, whole_argument
from ..values.sites import Abs
from ..values.values import Array, Const, Tup, Unknown, Value


def of_argument(a: Abs, b: Abs, sides: tuple[Step, Step] | None) -> Abs | None:
    """The parts on one side of a condition, where the other has the argument that it asks about; None for anything else."""
    if sides is None:
        return None
    for step, parts, given in ((sides[0], a, b), (sides[1], b, a)):
        question = asked(step.text)
        if question is None or question[1] == step.holds or type(given.value) is not Array:
            continue
        if whole_argument(given.value) == question[0] and _is_plain(parts.value):
            return dataclasses.replace(parts, static=False, flags=a.flags | b.flags)
    return None


def _is_plain(value: Value) -> bool:
    """Are these parts arrays, of which none may be something else?"""
    if not isinstance(value, Bundle | Tup):
        return False
    named = [item for _, item in value.names] if isinstance(value, Bundle) else []
    return bool(value.items) and all(_is_part(item) for item in [*value.items, *named])


def _is_part(value: Value) -> bool:
    return isinstance(value, Array | Unknown) or value == Const(None) or _is_plain(value)


__all__ = ["of_argument"]
