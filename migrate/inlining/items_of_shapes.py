"""A slice of a shape whose items are arguments of a module, as that many arguments: the same Linen program.

    x = Pooled(*x.shape[-3:], self.n)(x)          x = Pooled(x.shape[-3], x.shape[-2], x.shape[-1], self.n)(x)

An array that has fewer dimensions would have given it fewer arguments; now it has no such item, and raises.
"""

from __future__ import annotations

import ast

from ..edits import EditSet
from ..linen.project.index import Project
from ..source import SourceFile
from ..trees import subtree
from .callees import is_class


def with_items_of_shapes(project: Project, source: SourceFile, model: ast.ClassDef) -> str | None:
    """The file with such arguments of the calls of classes spelled out; None where there are none."""
    edits = EditSet(source.text)
    count = 0
    for call in subtree(model):
        if not isinstance(call, ast.Call) or not is_class(project, source, call.func):
            continue
        for argument in call.args:
            items = _items(argument.value) if isinstance(argument, ast.Starred) else []
            if items:
                edits.replace(source.span(argument), ", ".join(items))
                count += 1
    return edits.render() if count else None


def _items(node: ast.expr) -> list[str]:
    """`x.shape[-2]` and `x.shape[-1]` of `x.shape[-2:]`; also of `x.shape[1:3]`."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Slice) or node.slice.step is not None:
        return []
    shape = node.value
    if not isinstance(shape, ast.Attribute) or shape.attr != "shape" or not isinstance(shape.value, ast.Name):
        return []
    first, end = _number(node.slice.lower, 0), _number(node.slice.upper, None)
    if end is None and (node.slice.upper is not None or first is None or first >= 0):
        return []
    if first is None or (end is not None and (first < 0) != (end < 0)):
        return []
    return [f"{shape.value.id}.shape[{i}]" for i in range(first, 0 if end is None else end)]


def _number(node: ast.expr | None, default: int | None) -> int | None:
    """A whole number that is written out; None for anything else."""
    if node is None:
        return default
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _number(node.operand, None)
        return -value if value is not None else None
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    return None


__all__ = ["with_items_of_shapes"]
