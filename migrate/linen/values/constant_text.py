"""Python text of conditions and numbers that sizes are made of: what it comes to where its parts are all constants."""

from __future__ import annotations

import ast
import functools
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

# What an `expr` atom may call when all its sizes are numbers; templates are written by this package only.
_EXPR_NAMES = {"int": int, "float": float, "round": round, "abs": abs, "max": max, "min": min, "math": math}

_COMPARED: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Is: operator.eq, ast.IsNot: operator.ne, ast.Lt: operator.lt,
    ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip


def number_of(text: str) -> int | float | None:
    """The number that an expression of numbers gives."""
    try:
        result = eval(text, {"__builtins__": {}}, dict(_EXPR_NAMES))  # our own templates and numbers, no user text
    except (ArithmeticError, ValueError, TypeError, NameError, SyntaxError, MemoryError):
        return None
    return result if isinstance(result, int | float) and not isinstance(result, bool) else None


@functools.lru_cache(maxsize=4096)
def settled(test: str) -> bool | None:
    """What a comparison of two constants says, as one of fields does whose values are known: `None == 'down'`."""
    try:
        node = ast.parse(test, mode="eval").body
    except SyntaxError:
        return None
    if not isinstance(node, ast.Compare) or len(node.ops) != 1 or type(node.ops[0]) not in _COMPARED:
        return None
    sides = (node.left, node.comparators[0])
    if not all(isinstance(side, ast.Constant) and isinstance(side.value, int | str | None) for side in sides):
        return None
    left, right = (side.value for side in sides if isinstance(side, ast.Constant))
    identical = isinstance(node.ops[0], ast.Is | ast.IsNot)
    if identical and left is not None and right is not None:
        return None
    try:
        return bool(_COMPARED[type(node.ops[0])](left, right))
    except TypeError:
        return None


def condition(test: str) -> str:
    """A condition as it stands behind an `if`, where it may be a choice itself: `True if i < n else False`."""
    choice = ast.parse(test, mode="eval").body if " if " in test else None
    if not isinstance(choice, ast.IfExp):
        return test
    sides = [side.value if isinstance(side, ast.Constant) else None for side in (choice.body, choice.orelse)]
    return ast.unparse(choice.test) if sides == [True, False] else f"({test})"


__all__ = ["condition", "number_of", "settled"]
