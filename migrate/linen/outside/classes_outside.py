"""Expressions outside of modules that may be module classes: `encoders = {"small": Encoder, "wide": partial(Encoder, 64)}`,
then `encoder = encoders[name]`, of which `encoder()` makes a module.

What a table of a file holds is what it starts with, what statements put there (`encoders.update(more)`), and the classes
under a decorator that puts them there.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from ...source import SourceFile
from ...trees import of_kind, subtree
from ..flow.function_calls import FunctionCalls, parameters

_MAX_DEPTH = 6
_Makes = Callable[[SourceFile, ast.expr], bool]


def may_be_class(functions: FunctionCalls, source: SourceFile, node: ast.expr, makes: _Makes, depth: int = 0) -> bool:
    """May an expression be a module class of the project, a partial of one, a function that makes one, or a table of some?

    `makes`: may an expression be a module?
    """
    if depth > _MAX_DEPTH:
        return False
    project = functions.project

    def inner(*parts: ast.expr, where: SourceFile = source) -> bool:
        return any(may_be_class(functions, where, part, makes, depth + 1) for part in parts)

    if isinstance(node, ast.Dict):
        return inner(*node.values)
    if isinstance(node, ast.DictComp):
        return inner(node.value)
    if isinstance(node, ast.Lambda):
        return makes(source, node.body)
    if isinstance(node, ast.Tuple | ast.List):
        return inner(*node.elts)
    if isinstance(node, ast.IfExp):
        return inner(node.body, node.orelse)
    if isinstance(node, ast.Subscript):
        return inner(node.value)
    if isinstance(node, ast.Call):
        if project.qualname(source, node.func) == "functools.partial" and node.args:
            return inner(node.args[0])
        if isinstance(node.func, ast.Name) and node.func.id == "dict":
            return inner(*node.args, *(k.value for k in node.keywords))
        return isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "copy") and inner(node.func.value)
    if not isinstance(node, ast.Name | ast.Attribute):
        return False
    if isinstance(node, ast.Name) and source.names.binding_scope(node.id, node) is not None:
        return any(inner(value, where=home) for home, value in _given(functions, source, node))
    name = project.qualname(source, node) or ""
    if name in project.linen_classes:
        return True
    found = project.definition(name)
    if found is not None and isinstance(found[1], ast.FunctionDef):
        own = [r.value for r in of_kind(found[1], ast.Return) if found[0].names.scope_of(r) is found[1]]
        return any(value is not None and makes(found[0], value) for value in own)
    if found is None or not isinstance(found[1], ast.Assign | ast.AnnAssign) or found[1].value is None:
        return False
    home, table = found[0], name.rpartition(".")[2]
    return inner(found[1].value, *_put(home, table), where=home) or _is_registry(functions, home, table)


def _put(source: SourceFile, table: str) -> list[ast.expr]:
    """What statements put into a table of a file: `TABLE[key] = value`, `TABLE.update(more, key=value)`."""
    found: list[ast.expr] = []
    for node in subtree(source.tree):
        if isinstance(node, ast.Assign) and any(_is_item(source, target, table) for target in node.targets):
            found.append(node.value)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "update":
            if _is(source, node.func.value, table):
                found += [*node.args, *(k.value for k in node.keywords)]
    return found


def _is_registry(functions: FunctionCalls, source: SourceFile, table: str) -> bool:
    """Does a decorator of a module class put it there: `def register(cls): TABLE[cls.__name__] = cls; return cls`?"""
    fillers: set[ast.AST] = set()
    for node in source.by_kind.get(ast.Assign, ()):
        assert isinstance(node, ast.Assign)
        if isinstance(node.value, ast.Name) and any(_is_item(source, target, table) for target in node.targets):
            around = source.names.binding_scope(node.value.id, node.value)
            if isinstance(around, ast.FunctionDef) and node.value.id in parameters(around):
                fillers.update([around, *source.ancestors(around)])
    for info in functions.project.linen_classes.values() if fillers else ():
        for decorator in getattr(info.node, "decorator_list", ()):
            made = decorator.func if isinstance(decorator, ast.Call) else decorator
            found = functions.project.definition(functions.project.qualname(info.source, made) or "")
            if found is not None and isinstance(found[1], ast.FunctionDef) and found[1] in fillers:
                return True
    return False


def _is(source: SourceFile, node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name and source.names.binding_scope(name, node) is None


def _is_item(source: SourceFile, target: ast.expr, table: str) -> bool:
    return isinstance(target, ast.Subscript) and _is(source, target.value, table)


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
