"""Tables of functions that make modules: `FLOWS[self.kind](self, i)`, `FLOWS.get(name)`.

A class that looks up such a function and calls it is not followed; what the function makes would stay Linen's.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linen.project.index import Project
from ...source import SourceFile
from ...trees import subtree


def functions(
    project: Project, source: SourceFile, node: ast.expr
) -> Iterator[tuple[SourceFile, ast.FunctionDef | ast.Lambda]]:
    """The functions in the table of a module that a name means."""
    found = project.definition(project.qualname(source, node) or "")
    value = getattr(found[1], "value", None) if found is not None else None
    if found is None or not isinstance(value, ast.Dict | ast.List | ast.Tuple):
        return
    for item in value.values if isinstance(value, ast.Dict) else value.elts:
        if isinstance(item, ast.Lambda):
            yield found[0], item
        name = project.qualname(found[0], item) if isinstance(item, ast.Name | ast.Attribute) else None
        named = project.definition(name) if name else None
        if named is not None and isinstance(named[1], ast.FunctionDef):
            yield named[0], named[1]


def is_called(source: SourceFile, method: ast.AST, node: ast.expr) -> bool:
    """Is an item of the table called, or kept under a name that the method calls?"""
    item = source.parents.get(node)
    if isinstance(item, ast.Attribute) and item.attr == "get":
        item = source.parents.get(item)
    elif not isinstance(item, ast.Subscript) or item.value is not node:
        return False
    user = source.parents.get(item) if item is not None else None
    if isinstance(user, ast.Call) and user.func is item:
        return True
    names = {target.id for target in getattr(user, "targets", ()) if isinstance(target, ast.Name)}
    return any(isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in names for n in subtree(method))


__all__ = ["functions", "is_called"]
