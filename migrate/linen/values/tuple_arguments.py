"""Arguments that a method does nothing with but to take them apart: `ins, resets = x`."""

from __future__ import annotations

import ast
import functools

from ...trees import subtree

_MOST = 16  # items of an argument that are picked by number


@functools.lru_cache(maxsize=4096)
def items(function: ast.FunctionDef, name: str, picked: bool = True) -> int:
    """How many items an argument has that is only ever taken apart; 0 for any other. An array may be one, by its rows.

    `picked`: also one whose items are picked by constant numbers, `x[0]` and `x[1]`, of which it has as many as needed.
    """
    counts: set[int] = set()
    most = loads = 0
    for node in subtree(function):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id == name:
            target = node.targets[0]
            plain = isinstance(target, ast.Tuple | ast.List) and all(isinstance(e, ast.Name) for e in target.elts)
            if len(node.targets) != 1 or not plain:
                return 0
            counts.add(len(target.elts))  # type: ignore[attr-defined]
            loads -= 1
        elif picked and isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == name:
            place = node.slice.value if isinstance(node.slice, ast.Constant) else None
            if type(place) is not int or place >= _MOST or not isinstance(node.ctx, ast.Load):
                return 0
            most = max(most, place + 1)
            loads -= 1
        elif isinstance(node, ast.Name) and node.id == name:
            if not isinstance(node.ctx, ast.Load):
                return 0
            loads += 1
    if loads or len(counts) > 1 or (counts and most > max(counts)):
        return 0
    return counts.pop() if counts else most


__all__ = ["items"]
