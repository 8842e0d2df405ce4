"""Arguments that a method does nothing with but to take them apart: `ins, resets = x`."""

from __future__ import annotations

import ast

from .classes import Method


def items(method: Method, name: str) -> int:
    """How many items an argument has that is only ever taken apart; 0 for any other. An array may be one, by its rows."""
    counts: set[int] = set()
    loads = 0
    for node in method.nodes:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id == name:
            target = node.targets[0]
            plain = isinstance(target, ast.Tuple | ast.List) and all(isinstance(e, ast.Name) for e in target.elts)
            if len(node.targets) != 1 or not plain:
                return 0
            counts.add(len(target.elts))  # type: ignore[attr-defined]
            loads -= 1
        elif isinstance(node, ast.Name) and node.id == name:
            if not isinstance(node.ctx, ast.Load):
                return 0
            loads += 1
    return counts.pop() if len(counts) == 1 and loads == 0 else 0


__all__ = ["items"]
