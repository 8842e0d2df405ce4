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


def may_be_class(functions: FunctionCalls, source: SourceFile, node: ast.expr, makes: _Makes) -> bool:
    """May an expression be a module class of the project, a partial of one, a function that makes one, or a table of some?

    `makes`: may an expression be a module?
    """
    return any(True for _ in classes(functions, source, node, makes))


def classes(
    functions: FunctionCalls, source: SourceFile, node: ast.expr, makes: _Makes, depth: int = 0
) -> Iterator[str]:
    """The module classes that an expression, or what a table holds, may be; "" for others and for what makes modules."""
    if depth > _MAX_DEPTH:
        return
    project = functions.project

    def inner(*parts: ast.expr, where: SourceFile = source) -> Iterator[str]:
        for part in parts:
            yield from classes(functions, where, part, makes, depth + 1)

    if isinstance(node, ast.Dict):
        yield from inner(*node.values)
    elif isinstance(node, ast.DictComp):
        yield from inner(node.value)
    elif isinstance(node, ast.Lambda):
        yield from [""] * makes(source, node.body)
    elif isinstance(node, ast.Tuple | ast.List):
        yield from inner(*node.elts)
    elif isinstance(node, ast.IfExp):
        yield from inner(node.body, node.orelse)
    elif isinstance(node, ast.Subscript):
        yield from inner(node.value)
    elif isinstance(node, ast.Call):
        if project.qualname(source, node.func) == "functools.partial" and node.args:
            yield from inner(node.args[0])
        elif isinstance(node.func, ast.Name) and node.func.id == "dict":
            yield from inner(*node.args, *(k.value for k in node.keywords))
        elif isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "copy"):
            yield from inner(node.func.value)
    elif isinstance(node, ast.Name) and source.names.binding_scope(node.id, node) is not None:
        for home, value in _given(functions, source, node):
            yield from inner(value, where=home)
    elif isinstance(node, ast.Name | ast.Attribute):
        name = project.qualname(source, node) or ""
        found = project.definition(name)
        if name in project.linen_classes:
            yield name
        elif found is not None and isinstance(found[1], ast.FunctionDef):
            own = [r.value for r in of_kind(found[1], ast.Return) if found[0].names.scope_of(r) is found[1]]
            yield from [""] * any(value is not None and makes(found[0], value) for value in own)
        elif found is not None and isinstance(found[1], ast.Assign | ast.AnnAssign) and found[1].value is not None:
            home, table = found[0], name.rpartition(".")[2]
            yield from inner(found[1].value, *_put(home, table), where=home)
            yield from _registered(functions, home, table)


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


def _registered(functions: FunctionCalls, source: SourceFile, table: str) -> Iterator[str]:
    """The classes that a decorator puts there: `def register(cls): TABLE[cls.__name__] = cls; return cls`."""
    fillers: set[ast.AST] = set()
    for node in source.by_kind.get(ast.Assign, ()):
        assert isinstance(node, ast.Assign)
        if isinstance(node.value, ast.Name) and any(_is_item(source, target, table) for target in node.targets):
            around = source.names.binding_scope(node.value.id, node.value)
            if isinstance(around, ast.FunctionDef) and node.value.id in parameters(around):
                fillers.update([around, *source.ancestors(around)])
    for name, info in functions.project.linen_classes.items() if fillers else ():
        for decorator in getattr(info.node, "decorator_list", ()):
            made = decorator.func if isinstance(decorator, ast.Call) else decorator
            found = functions.project.definition(functions.project.qualname(info.source, made) or "")
            if found is not None and isinstance(found[1], ast.FunctionDef) and found[1] in fillers:
                yield name


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


__all__ = ["classes", "may_be_class"]
