"""What a sequence of numbers in a field picks of an array: `x[..., self.columns]` has as many columns as it names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ..values.dims import Dim
from ..values.sites import Static
from ..values.values import Array, Const, Shape, Tup, Value

if TYPE_CHECKING:
    from ..project.classes import Field

# Of truth values it would be a mask, and one number alone takes the dimension away.
_NUMBERS = re.compile(r"(typing\.)?([Ss]equence|[Ll]ist|[Ii]terable)\[int\]|(typing\.)?[Tt]uple\[int, \.\.\.\]")

_ELLIPSIS = Const(...)


def as_index(run: Any, array: Array, item: Value) -> Value:
    """An index of an array, with the arrays that its sequences of numbers are for NumPy.

    Of `x[:, self.columns]` the rank of `x` says whether these are columns; a guess of it does not. `x[self.columns]` is no
    such index: a tuple alone is an item for each axis, `x[0, 1]`.
    """
    if not isinstance(item, Tup) or item.kind != "tuple" or len(item.items) < 2:
        return item
    if array.shape.rank is None and item.items[0] != _ELLIPSIS:
        return item
    return Tup(tuple(_as_array(run, one) for one in item.items), item.kind)


def _as_array(run: Any, item: Value) -> Value:
    if type(item) is not Static or not item.sequence or not item.text.startswith("self."):
        return item
    field: Field | None = run.fields.get(item.text.removeprefix("self."))
    if field is None or field.annotation is None or not _NUMBERS.fullmatch(_said(run, field)):
        return item
    return Array(Shape((Dim.opaque(f"len({item.text})", item.deps),)))


def _said(run: Any, field: Field) -> str:
    text: str = run.project.said(field.annotation)
    return text.strip("'\"").replace("collections.abc.", "")


__all__ = ["as_index"]
