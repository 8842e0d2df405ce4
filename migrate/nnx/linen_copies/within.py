"""Imports that stand in functions: what they import is imported when the function runs, and so is its module of copies."""

from __future__ import annotations

import ast

from ...source import SourceFile


def imported_within(source: SourceFile, original: SourceFile, at: ast.AST) -> ast.stmt | None:
    """The `from . import blocks` in a function around `at`, where the file imports `original` nowhere else.

    Such an import often stands there because the modules import each other: at the top it would come too early.
    """
    found = [node for node in imports_of(source) if _imports_module(source, node, original.module)]
    if any(source.parents.get(node) is source.tree for node in found):
        return None
    around, start = set(source.ancestors(at)), source.span(at).start
    before = [n for n in found if source.parents.get(n) in around and source.span(n).end <= start]
    return max(before, key=lambda n: source.span(n).end, default=None)


def _imports_module(source: SourceFile, node: ast.Import | ast.ImportFrom, module: str) -> bool:
    """Does a statement import a module, or names of it?"""
    if isinstance(node, ast.Import):
        return any((source.resolve(a.name) if source.resolve is not None else a.name) == module for a in node.names)
    return any(module in (known, known.rpartition(".")[0]) for _, known in source.names.bindings(node))


def imports_of(source: SourceFile) -> list[ast.Import | ast.ImportFrom]:
    """The import statements of a file, wherever they stand."""
    found = [*source.by_kind.get(ast.ImportFrom, ()), *source.by_kind.get(ast.Import, ())]
    return [node for node in found if isinstance(node, ast.Import | ast.ImportFrom)]


__all__ = ["imported_within", "imports_of"]
