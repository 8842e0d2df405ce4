"""What a site is given that is computed of a number of dimensions: `nn.Conv(8, (3,) * (x.ndim - 2))`."""

from __future__ import annotations

import ast

from ...source import SourceFile
from ...trees import of_kind, subtree
from ..values.sites import Site

_CONVERSIONS = ("tuple", "list", "len")
_GROWS = ("append", "extend", "insert")


def reads_rank(site: Site) -> bool:
    """Is an argument, or a name that it reads, computed of a number of dimensions, or under a condition or loop of one?"""
    todo: list[ast.AST] = [bound.node for bound in site.bound.values() if bound.node is not None and bound.given]
    if site.kind in ("param", "variable"):
        todo.append(site.node)
    seen: set[ast.AST] = set()
    while todo:
        for node in subtree(todo.pop()):
            if _counts(node):
                return True
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                for statement in _changes(site.source, node):
                    if statement not in seen:
                        seen.add(statement)
                        todo += _said_by(site.source, statement)
    return False


def _counts(node: ast.AST) -> bool:
    """`x.ndim`, `len(x.shape)`, `jnp.ndim(x)`"""
    if isinstance(node, ast.Attribute):
        return node.attr == "ndim"
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    shaped = len(node.args) == 1 and isinstance(node.args[0], ast.Attribute) and node.args[0].attr == "shape"
    return name == "ndim" or (name == "len" and shaped)


def _changes(source: SourceFile, name: ast.Name) -> list[ast.stmt]:
    """The statements of its function that give a name a value, or change the list that it has."""
    names = source.names
    scope = names.binding_scope(name.id, name)
    if scope is None:
        return []
    bound = [source.parents.get(b) for b in names.binders(name.id) if names.bound_by(b) is scope]
    found: list[ast.stmt] = [s for s in bound if isinstance(s, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.For)]
    for node in of_kind(scope, ast.Expr) if isinstance(scope, ast.FunctionDef) else ():  # no other has statements
        if isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
            grown = node.value.func
            if grown.attr in _GROWS and isinstance(grown.value, ast.Name) and grown.value.id == name.id:
                found.append(node)
    return found


def _said_by(source: SourceFile, statement: ast.stmt) -> list[ast.AST]:
    """What decides of such a statement: its value, and the conditions and loops around it."""
    found: list[ast.AST] = []
    value = statement.iter if isinstance(statement, ast.For) else getattr(statement, "value", None)
    called = getattr(value.func, "id", "") if isinstance(value, ast.Call) and isinstance(statement, ast.Assign) else "list"
    if value is not None and (called in _CONVERSIONS or _counts(value)):  # of other results the sizes alone are asked
        found.append(value)
    for around in source.ancestors(statement):
        if isinstance(around, ast.FunctionDef | ast.Lambda):
            break
        if isinstance(around, ast.If | ast.While):
            found.append(around.test)
        elif isinstance(around, ast.For):
            found.append(around.iter)
    return found


__all__ = ["reads_rank"]
