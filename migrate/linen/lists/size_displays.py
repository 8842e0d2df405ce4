"""Loops over arrays that are written out: `for name, v in (("text", a), ("image", b))`, `for x in [a, b]`.

The constructor goes through their widths, beside whatever else stands in the rows.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from ..values.sites import LocalizedPart
from ..values.values import Tup, Value
from . import size_lists


def followed(run: Any, node: ast.expr, env: Any, parts: list[Any], needs: set[str]) -> Value | None:
    """What a loop over a display binds, and in `parts` what the constructor goes through; None where that is not seen."""
    rows = _rows(node)
    if not rows:
        return None
    if not _has_columns(node):
        return _column(run, [row[0] for row in rows], env, parts, needs)
    if len({len(row) for row in rows}) > 1:
        return None
    parts.append("zip(")
    found: list[Value] = []
    for place, column in enumerate(zip(*rows)):
        parts.append(", " if place else "")
        element = _column(run, column, env, parts, needs)
        if element is None:
            return None
        found.append(element)
    parts.append(")")
    return Tup(tuple(found))


def _rows(node: ast.expr) -> list[tuple[ast.expr, ...]]:
    """The rows of a display, each with its columns; [] where it is none, or not all rows are written out."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Dict):
        keys, values = node.func.value.keys, node.func.value.values
        if node.args or node.keywords or node.func.attr not in ("items", "values") or None in keys:
            return []
        distinct = {ast.dump(k) for k in keys if isinstance(k, ast.Constant)}
        if len(distinct) < len(keys):
            return []
        return [(k, v) if node.func.attr == "items" else (v,) for k, v in zip(keys, values) if k is not None]
    if not isinstance(node, ast.Tuple | ast.List) or any(isinstance(e, ast.Starred) for e in node.elts):
        return []
    inner = [e for e in node.elts if isinstance(e, ast.Tuple | ast.List)]
    if not inner:
        return [(e,) for e in node.elts]
    if len(inner) < len(node.elts) or any(isinstance(e, ast.Starred) for row in inner for e in row.elts):
        return []
    return [tuple(row.elts) for row in inner]


def _has_columns(node: ast.expr) -> bool:
    """Is each row one of several values, even if it has one only?"""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr == "items"
    return isinstance(node, ast.Tuple | ast.List) and all(isinstance(e, ast.Tuple | ast.List) for e in node.elts)


def _column(run: Any, column: Sequence[ast.expr], env: Any, parts: list[Any], needs: set[str]) -> Value | None:
    """What one place of every row is: arrays, or what the constructor can say."""
    values = [run.evaluated[node] if node in run.evaluated else run.evaluate(node, env) for node in column]
    if all(size_lists.is_certain(run, v.value) for v in values):
        variable = size_lists.made_of(run, [v.value for v in values])
        parts.append(variable)
        needs.add(variable)
        widths = {v.value.shape.dim(-1) for v in values}
        return size_lists.SizeItem(variable, widths.pop() if len(widths) == 1 else None)
    if not all(v.static for v in values):
        return None
    parts.append("(")
    for place, node in enumerate(column):
        said = run.localize(node, env)
        if said is None:
            return None
        needs |= said.needs
        parts += [", " if place else "", LocalizedPart(said)]
    parts.append(",)" if len(column) == 1 else ")")
    from ..execution.iteration import element_of

    return element_of(Tup(tuple(v.value for v in values)))


__all__ = ["followed"]
