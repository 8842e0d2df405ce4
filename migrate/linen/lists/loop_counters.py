"""The names that count the passes of loops."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ..values.arguments import stored_names


def counter_of(target: ast.expr, iterator: ast.expr, body: Sequence[ast.AST]) -> str:
    """The name that counts a loop's passes from zero: `i` of `range(n)`, of `enumerate(items)`; "" where none does.

    `body`: what the loop repeats, which may give the name another value.
    """
    if not isinstance(iterator, ast.Call) or not isinstance(iterator.func, ast.Name):
        return ""
    if len(iterator.args) != 1 or iterator.keywords:
        return ""
    first = target.elts[0] if iterator.func.id == "enumerate" and isinstance(target, ast.Tuple) else target
    if iterator.func.id not in ("range", "enumerate") or not isinstance(first, ast.Name):
        return ""
    if iterator.func.id == "enumerate" and first is target:
        return ""  # it is a pair
    return "" if any(first.id in stored_names(part) for part in body) else first.id


def body_of(loop: ast.AST) -> Sequence[ast.AST]:
    """What a loop repeats, where that can bind names: not in comprehensions, whose names are their own."""
    return loop.body if isinstance(loop, ast.For) else ()


__all__ = ["body_of", "counter_of"]
