"""Expressions that do nothing but give a value."""

from __future__ import annotations

import ast

from ..trees import subtree


def is_simple(node: ast.expr) -> bool:
    """May it be said in several places: a name, an attribute of one, a constant, a tuple of these?"""
    if isinstance(node, ast.Tuple):
        return all(is_simple(item) for item in node.elts)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.operand, ast.Constant)
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name | ast.Constant)


_PURE = (
    ast.Name, ast.Constant, ast.Attribute, ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.IfExp, ast.Tuple,
    ast.Subscript, ast.Slice, ast.JoinedStr, ast.FormattedValue, ast.expr_context, ast.operator, ast.unaryop, ast.cmpop,
    ast.boolop,
)  # fmt: skip


def is_pure(node: ast.expr) -> bool:
    """Does it give the same wherever in a statement it is evaluated, and do nothing else?"""
    return all(isinstance(n, _PURE) for n in subtree(node))


__all__ = ["is_pure", "is_simple"]
