"""Functions that give what a table holds which code fills as it runs: `def get(kind): return BLOCKS[kind]`.

What that is no code says: the function may give a module, or the class of one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from ...source import SourceFile
from ...trees import subtree
from ..project.index import Project
from ..shapes.shape_keeping import names_activation
from ..values import mutation
from . import registered

_DEPTH = 4  # functions that call functions


def gives_item(run: Any, source: SourceFile, func: ast.expr, depth: int = _DEPTH) -> bool:
    """Does what is called, or its result where that is called in turn, give an item of such a table?"""
    while isinstance(func, ast.Call):
        func = func.func
    known = run.project.qualname(source, func) or ""
    found = run.project.definition(known) if known and depth else None
    if found is None and depth and isinstance(func, ast.Attribute):
        found = _method(run, source, func)
    if found is None or not isinstance(found[1], ast.FunctionDef) or names_activation(found[1].name):
        return False
    home, function = found
    given = [n.value for n in subtree(function) if isinstance(n, ast.Return) and home.function_of(n) is function]
    for value in [value for one in given if one is not None for value in _values(function, one)]:
        if isinstance(value, ast.Call) and gives_item(run, home, value, depth - 1):
            return True
        table = _table(value)
        if isinstance(table, ast.Attribute) and ast.unparse(table.value) == "self":
            return True  # of an object, which other files may put more into
        name = run.project.qualname(home, table) if table is not None else None
        if name is not None and _is_filled(run, name):
            return True
    return False


def _method(run: Any, source: SourceFile, func: ast.Attribute) -> tuple[SourceFile, ast.stmt] | None:
    """The method of an object of a file, of a class of the project that is no module: `BLOCKS.get`."""
    project: Project = run.project
    made = project.definition(project.qualname(source, func.value) or "")
    value = getattr(made[1], "value", None) if made is not None else None
    if made is None or not isinstance(value, ast.Call):
        return None
    cls = project.qualname(made[0], value.func) or ""
    found = project.definition(cls) if cls and cls not in project.linen_classes else None
    if found is None or not isinstance(found[1], ast.ClassDef):
        return None
    methods = (s for s in found[1].body if isinstance(s, ast.FunctionDef) and s.name == func.attr)
    return next(((found[0], method) for method in methods), None)


def _values(function: ast.FunctionDef, value: ast.expr, depth: int = _DEPTH) -> Iterator[ast.expr]:
    """What is returned, or called for it, also by way of local names: `cls = BLOCKS[kind]`, `return cls(width)`."""
    while isinstance(value, ast.Call) and not (isinstance(value.func, ast.Attribute) and value.func.attr == "get"):
        yield value
        value = value.func
    yield value
    for node in subtree(function) if isinstance(value, ast.Name) and depth else ():
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == value.id for t in node.targets):  # type: ignore[attr-defined]
            yield from _values(function, node.value, depth - 1)


def _table(value: ast.expr) -> ast.expr | None:
    """`BLOCKS` of `BLOCKS[kind]["wide"]` and `BLOCKS[kind].get(name)`."""
    found = None
    while isinstance(value, ast.Subscript | ast.Call):
        if isinstance(value, ast.Call):
            if not (isinstance(value.func, ast.Attribute) and value.func.attr == "get"):
                return None
            value = value.func.value
        else:
            value = value.value
        found = value
    return found


def _is_filled(run: Any, name: str) -> bool:
    """Is it a table of a file of the project that code puts something into, which is not told?"""
    module = name.rpartition(".")[0]
    if module not in run.project.files or run.project.definition(name) is None:
        return False
    return not mutation.is_fixed(run.project, name) and registered.table(run, name) is None


__all__ = ["gives_item"]
