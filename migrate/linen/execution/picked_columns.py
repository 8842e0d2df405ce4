"""What a sequence of numbers in a field picks of an array: `x[..., self.columns]` has as many columns as it names."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from ..values.dims import Dim
from ..values.sites import Static
from ..values.values import Array, Const, Shape, Tup, Unknown, Value

if TYPE_CHECKING:
    from ..project.classes import Field

# Of truth values it would be a mask, and one number alone takes the dimension away.
_NUMBERS = re.compile(r"(typing\.)?([Ss]equence|[Ll]ist|[Ii]terable)\[int\]|(typing\.)?[Tt]uple\[int, \.\.\.\]")

_GIVE_NUMBERS = frozenset({"abs", "int", "len", "max", "min", "ord", "pow", "round", "sum"})

_ELLIPSIS = Const(...)


def as_index(run: Any, array: Array, item: Value) -> Value:
    """An index of an array, with the arrays that its sequences of numbers are for NumPy.

    Of `x[:, self.columns]` the rank of `x` says whether these are columns; a guess of it does not. `x[self.columns]` is no
    such index: a tuple alone is an item for each axis, `x[0, 1]`.
    """
    items: tuple[Value, ...] = item.items if isinstance(item, Tup) and item.kind == "tuple" else (item,)
    if any(type(one) is Static and not one.sequence and not _is_number(one.text) for one in items):
        return Unknown("an index by what may be an array")
    if items == (item,) or len(items) < 2:
        return item
    if array.shape.rank is None and items[0] != _ELLIPSIS:
        return item
    return Tup(tuple(_as_array(run, one) for one in items))


def _as_array(run: Any, item: Value) -> Value:
    if type(item) is not Static or not item.sequence or not item.text.startswith("self."):
        return item
    field: Field | None = run.fields.get(item.text.removeprefix("self."))
    if field is None or field.annotation is None or not _NUMBERS.fullmatch(_said(run, field)):
        return item
    return Array(Shape((Dim.opaque(f"len({item.text})", item.deps),)))


def _is_number(text: str) -> bool:
    """Is what a text says one number, as far as that shows: no array, list, slice or mask that functions make?"""
    node = ast.parse(text, mode="eval").body
    while isinstance(node, ast.Subscript | ast.Attribute | ast.UnaryOp):
        node = node.operand if isinstance(node, ast.UnaryOp) else node.value
    if isinstance(node, ast.BinOp):
        return _is_number(ast.unparse(node.left)) and _is_number(ast.unparse(node.right))
    if isinstance(node, ast.IfExp):
        return _is_number(ast.unparse(node.body)) and _is_number(ast.unparse(node.orelse))
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func)
        return name in _GIVE_NUMBERS or name.startswith("math.") or name.endswith((".index", ".count", ".prod"))
    return isinstance(node, ast.Name | ast.Constant)


def _said(run: Any, field: Field) -> str:
    text: str = run.project.said(field.annotation)
    return text.strip("'\"").replace("collections.abc.", "")


__all__ = ["as_index"]
