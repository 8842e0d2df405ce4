"""Where expressions stand to each other: in the same loop, in branches that exclude each other."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...source import SourceFile
from .rewrite import Rewrite

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


def _branches(form: Rewrite, node: ast.AST) -> Iterator[tuple[ast.If, str]]:
    child = node
    for parent in form.source(node).ancestors(node):
        if isinstance(parent, ast.If):
            for field in ("body", "orelse"):
                if child in getattr(parent, field):
                    yield parent, field
        child = parent
