"""`self.dtype or x.dtype`: the dtype that a field says, else that of an array of the call.

A parameter that takes it is made with `dtype or kernel_dtype`, the latter an argument of the constructor, see `DtypePart`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from ...frozen import frozen
from .sites import Abs, DtypePart, Localized, Static
from .values import DtypeOf


@frozen(eq=False)
class DtypeOr(DtypeOf):
    """`around`: the whole expression as the constructor says it, but for the array's dtype, which stands at `place`."""

    around: Localized | None = None
    place: Any = None  # Span


def field_or_input(
    run: Any, node: ast.expr, field: Abs, asked: Abs, array: ast.expr, said: Sequence[ast.expr], env: Any
) -> Abs | None:
    """What `node` gives, of which `array` is an array's dtype and `said` are the other parts; None where it is none."""
    if type(asked.value) is not DtypeOf or not isinstance(field.value, Static) or run.in_setup or not env.in_method():
        return None
    parts = [run.localize(part, env) for part in said]
    if any(part is None or part.needs or part.source is not env.source for part in parts):
        return None
    replaced = tuple(edit for part in parts for edit in part.replaced)
    span = env.source.span
    around = Localized(span(node), env.source, replaced, frozenset(), frozenset().union(*[p.flags for p in parts]))
    return Abs(DtypeOr(asked.value.why, around, span(array)), False, field.flags | asked.flags)


def with_argument(value: DtypeOf, argument: str) -> Localized | None:
    """The dtype as the constructor says it with an argument for the array's; None for an array's alone."""
    if not isinstance(value, DtypeOr) or value.around is None:
        return None
    around = value.around
    replaced = (*around.replaced, (value.place, (DtypePart(argument),)))
    return Localized(around.span, around.source, replaced, around.needs, around.flags)


__all__ = ["DtypeOr", "field_or_input", "with_argument"]
