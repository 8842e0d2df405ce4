"""Functions that make modules under other names: in tables (`FLOWS[self.kind](self, i)`), objects and classes.

A class that looks up such a function and calls it is not followed; what the function makes would stay Linen's.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linen.project.index import Project
from ...source import SourceFile


def functions(
    project: Project, source: SourceFile, node: ast.expr
) -> Iterator[tuple[SourceFile, ast.FunctionDef | ast.Lambda]]:
    """The functions that a name of a file holds: a lambda, those of a table, what an object or a partial was given there,
    and the method of such an object that is called, `blocks.make(x)` after `blocks = Blocks()`."""
    found = project.definition(project.qualname(source, node) or "")
    value = getattr(found[1], "value", None) if found is not None else None
    if found is not None and isinstance(value, ast.expr):
        yield from _held(project, found[0], value, _MAX_DEPTH)
        yield from _method(project, found[0], value, source.parents.get(node))


_MAX_DEPTH = 4  # names for names


def _held(
    project: Project, source: SourceFile, value: ast.expr, depth: int
) -> Iterator[tuple[SourceFile, ast.FunctionDef | ast.Lambda]]:
    if isinstance(value, ast.Lambda):
        yield source, value
    for item in _items(value):
        if isinstance(item, ast.Lambda):
            yield source, item
        name = project.qualname(source, item) if isinstance(item, ast.Name | ast.Attribute) else None
        named = project.definition(name) if name else None
        if named is not None and isinstance(named[1], ast.FunctionDef):
            yield named[0], named[1]
        elif named is not None and depth and isinstance(further := getattr(named[1], "value", None), ast.Lambda | ast.Call):
            yield from _held(project, named[0], further, depth - 1)


def _items(value: ast.expr) -> Iterator[ast.expr]:
    """What is in a table, or given to what makes an object; what a partial is of is followed."""
    if isinstance(value, ast.Dict):
        yield from value.values
    elif isinstance(value, ast.List | ast.Tuple | ast.Set):
        yield from value.elts
    elif isinstance(value, ast.Call):
        first = 1 if ast.unparse(value.func).endswith("partial") else 0
        for given in [*value.args[first:], *[k.value for k in value.keywords]]:
            yield given
            yield from _items(given)


def _method(
    project: Project, source: SourceFile, value: ast.expr, user: ast.AST | None
) -> Iterator[tuple[SourceFile, ast.FunctionDef]]:
    """The method that is called of an object of a class of the project, which the file has made."""
    owner = project.qualname(source, value.func) if isinstance(value, ast.Call) else None
    name = user.attr if isinstance(user, ast.Attribute) else "__call__"
    for _ in range(_MAX_DEPTH):
        found = project.definition(owner) if owner and owner not in project.linen_classes else None
        if found is None or not isinstance(found[1], ast.ClassDef):
            return
        yield from ((found[0], f) for f in found[1].body if isinstance(f, ast.FunctionDef) and f.name == name)
        owner = project.qualname(found[0], found[1].bases[0]) if found[1].bases else None


def of_class(project: Project, source: SourceFile, node: ast.expr) -> tuple[SourceFile, ast.expr] | None:
    """What a class that is no module holds under a name: `class Config: norm = nn.LayerNorm`, asked for as `Config.norm`."""
    dotted = (project.qualname(source, node) or "").removesuffix(".value")  # of a member of an enumeration
    owner, _, name = dotted.rpartition(".")
    found = project.definition(owner) if owner and owner not in project.linen_classes else None
    if found is None:
        return None
    made = getattr(found[1], "value", None)
    for keyword in made.keywords if isinstance(made, ast.Call) else ():
        if keyword.arg == name:  # `kinds = SimpleNamespace(norm=nn.LayerNorm)`, asked for as `kinds.norm`
            return found[0], keyword.value
    for statement in found[1].body if isinstance(found[1], ast.ClassDef) else ():
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        value = getattr(statement, "value", None)
        if isinstance(statement, ast.Assign | ast.AnnAssign) and value is not None:
            if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                return found[0], value
    return None


def functions_of_class(
    project: Project, source: SourceFile, node: ast.expr
) -> Iterator[tuple[SourceFile, ast.FunctionDef | ast.Lambda]]:
    """The functions that a class which is no module holds so: `make = staticmethod(make_block)`."""
    held = of_class(project, source, node)
    if held is not None:
        yield from _held(project, held[0], ast.Tuple([held[1], *_items(held[1])], ast.Load()), _MAX_DEPTH)


def is_called(source: SourceFile, node: ast.expr) -> bool:
    """May what is read be called: is it more than asked what it has, or compared?"""
    user = source.parents.get(node)
    if isinstance(user, ast.Compare | ast.FormattedValue):
        return False
    if isinstance(user, ast.Attribute):
        return user.attr not in ("keys", "__len__")
    return not (isinstance(user, ast.Call) and isinstance(user.func, ast.Name) and user.func.id in _ASKING)


# What only looks at a table.
_ASKING = frozenset({"len", "sorted", "isinstance", "str", "repr", "print"})


__all__ = ["functions", "functions_of_class", "is_called", "of_class"]
