"""Expressions outside of modules that may be module classes: `encoders = {"small": Encoder, "wide": partial(Encoder, 64)}`,
then `encoder = encoders[name]`, of which `encoder()` makes a module.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...source import SourceFile
from ...trees import of_kind
from ..flow.function_calls import FunctionCalls, parameters

_MAX_DEPTH = 6


def may_be_class(functions: FunctionCalls, source: SourceFile, node: ast.expr, depth: int = 0) -> bool:
    """May an expression be a module class of the project, a partial of one, or a table of some?"""
    if depth > _MAX_DEPTH:
        return False
    project = functions.project

    def inner(*parts: ast.expr) -> bool:
        return any(may_be_class(functions, source, part, depth + 1) for part in parts)

    if isinstance(node, ast.Dict):
        return inner(*node.values)
    if isinstance(node, ast.Tuple | ast.List):
        return inner(*node.elts)
    if isinstance(node, ast.IfExp):
        return inner(node.body, node.orelse)
    if isinstance(node, ast.Subscript):
        return inner(node.value)
    if isinstance(node, ast.Call):
        if project.qualname(source, node.func) == "functools.partial" and node.args:
            return inner(node.args[0])
        return isinstance(node.func, ast.Attribute) and node.func.attr == "get" and inner(node.func.value)
    if not isinstance(node, ast.Name | ast.Attribute):
        return False
    if isinstance(node, ast.Name) and source.names.binding_scope(node.id, node) is not None:
        return any(may_be_class(functions, *given, depth + 1) for given in _given(functions, source, node))
    name = project.qualname(source, node) or ""
    if name in project.linen_classes:
        return True
    found = project.definition(name)
    if found is None or not isinstance(found[1], ast.Assign | ast.AnnAssign) or found[1].value is None:
        return False
    return may_be_class(functions, found[0], found[1].value, depth + 1)


def _given(functions: FunctionCalls, source: SourceFile, node: ast.Name) -> Iterator[tuple[SourceFile, ast.expr]]:
    """What a variable of a function is given."""
    scope = source.names.binding_scope(node.id, node)
    if not isinstance(scope, ast.FunctionDef):
        return
    if node.id in parameters(scope):
        yield from functions.given(source, scope, node.id)
    key = ("classes_outside", scope)
    if key not in source.found:
        source.found[key] = _assigned(scope)
    yield from ((source, value) for value in source.found[key].get(node.id, ()))


def _assigned(scope: ast.FunctionDef) -> dict[str, list[ast.expr]]:
    """What a function assigns to names, in the order of `subtree`."""
    found: dict[str, list[ast.expr]] = {}
    for statement in of_kind(scope, ast.Assign):
        for name in dict.fromkeys(t.id for t in statement.targets if isinstance(t, ast.Name)):
            found.setdefault(name, []).append(statement.value)
    return found


__all__ = ["may_be_class"]
