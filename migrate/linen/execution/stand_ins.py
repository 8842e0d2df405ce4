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


def without_absent(found: Abs, a: Abs, b: Abs, sides: tuple[Step, Step] | None) -> Abs:
    """What both sides of a condition give, without a width that an argument says which is not there on the other side.

    `if mask is not None: h = h * mask` gives no width to an `h` of which none is known: without a mask there is none.
    """
    question = asked(sides[0].text) if sides is not None else None
    value, widths = found.value, [v.shape.dim(-1) for v in (a.value, b.value) if isinstance(v, Array)]
    if question is None or len(widths) < 2 or None not in widths or not isinstance(value, Array) or not value.shape.dims:
        return found
    *others, said = value.shape.dims
    if said is None or not any(atom.kind == "input" and atom.args[0] == question[0] for atom in said.atoms()):
        return found
    unknown = dataclasses.replace(value.shape, dims=(*others, None))
    return dataclasses.replace(found, value=dataclasses.replace(value, shape=unknown))


def _is_plain(value: Value) -> bool:
    """Are these parts arrays, of which none may be something else?"""
    if not isinstance(value, Bundle | Tup):
        return False
    named = [item for _, item in value.names] if isinstance(value, Bundle) else []
    return bool(value.items) and all(_is_part(item) for item in [*value.items, *named])


def _is_part(value: Value) -> bool:
    return isinstance(value, Array | Unknown) or value == Const(None) or _is_plain(value)


__all__ = ["of_argument", "without_absent"]
