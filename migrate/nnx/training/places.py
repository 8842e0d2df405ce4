"""Where expressions stand to each other: in the same loop, in branches that exclude each other."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...source import SourceFile
from ...trees import subtree
from .rewrite import Rewrite

_NAMING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)
_CHANGING = frozenset(
    {"append", "extend", "insert", "remove", "pop", "popitem", "clear", "update", "setdefault", "sort", "reverse", "add"}
)
_LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def nested(source: SourceFile, one: ast.AST | None, other: ast.AST | None) -> bool:
    """Is one scope the other, or within it?"""
    if one is None or other is None or one is other:
        return True
    return other in source.ancestors(one) or one in source.ancestors(other)


def loops_around(form: Rewrite, node: ast.AST, scope: ast.AST | None) -> set[ast.AST]:
    """The loops around an expression, within its function."""
    found: set[ast.AST] = set()
    for parent in form.source(node).ancestors(node):
        if parent is scope:
            break
        if isinstance(parent, _LOOPS):
            found.add(parent)
    return found


def exclusive(form: Rewrite, one: ast.AST, other: ast.AST) -> bool:
    """Do two expressions stand in different branches of one `if`?"""
    if form.source(one) is not form.source(other):
        return False
    branches = {(id(parent), field) for parent, field in _branches(form, one)}
    return any((id(parent), "orelse" if field == "body" else "body") in branches for parent, field in _branches(form, other))


def runs_before(form: Rewrite, first: ast.stmt, node: ast.AST) -> bool:
    """Does a statement run whenever `node` does, before it? It stands above, in a block around."""
    child: ast.AST = node
    for parent in [*form.source(node).ancestors(node)]:
        for block in (getattr(parent, field, None) for field in ("body", "orelse", "finalbody")):
            if isinstance(block, list) and child in block and first in block:
                return block.index(first) < block.index(child)
        if isinstance(parent, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            return False
        child = parent
    return False


def changed_between(form: Rewrite, node: ast.AST, first: ast.stmt, last: ast.stmt) -> bool:
    """May an expression of one statement mean something else in a later one of the same block?"""
    block = form.block(first)
    read = {n.id for n in subtree(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    for statement in block[block.index(first) + 1 : block.index(last)]:
        for inner in subtree(statement):
            bound = getattr(inner, "name", None) if isinstance(inner, _NAMING) else None
            if bound in read or (isinstance(inner, ast.alias) and (inner.asname or inner.name) in read):
                return True
            target = inner
            if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr in _CHANGING:
                target = inner.func.value
            elif not isinstance(getattr(inner, "ctx", None), ast.Store | ast.Del):
                continue
            while isinstance(target, ast.Attribute | ast.Subscript):
                target = target.value
            if isinstance(target, ast.Name) and target.id in read:
                return True
    return False


def _branches(form: Rewrite, node: ast.AST) -> Iterator[tuple[ast.If, str]]:
    child = node
    for parent in form.source(node).ancestors(node):
        if isinstance(parent, ast.If):
            for field in ("body", "orelse"):
                if child in getattr(parent, field):
                    yield parent, field
        child = parent


def called_first(value: ast.AST | None, call: ast.Call) -> bool:
    """`return update(state, grads), loss`: is nothing else called before it?"""
    before = value.elts[: value.elts.index(call)] if isinstance(value, ast.Tuple) and call in value.elts else None
    return before is not None and not any(isinstance(node, ast.Call) for element in before for node in subtree(element))
