"""What calls may give the modules of a project, by name or by place, apart from their constructors."""

from __future__ import annotations

import ast
import dataclasses
import weakref
from typing import Any

_PARTIAL = "functools.partial"
_APPLIED = frozenset({"apply", "apply_fn", "init", "init_with_output", "lazy_init"})
_OF_LINEN = frozenset({"param", "variable", "sow", "perturb", "get_variable", "put_variable", "has_variable"})
_MANY = 99


@dataclasses.dataclass
class _Given:
    names: set[str]
    most: int = 0  # arguments by place of one call of what may be a module


_known: weakref.WeakKeyDictionary[Any, _Given] = weakref.WeakKeyDictionary()


def gives(project: Any, name: str, place: int | None) -> bool:
    """May a call give a module of the project an argument: by its name, or at its place (None: it has none)?"""
    found = _known.get(project)
    if found is None:
        found = _known[project] = _given(project)
    return name in found.names or (place is not None and found.most > place)


def _given(project: Any) -> _Given:
    found = _Given(set())
    classes = project.linen_classes.values()
    methods = {n.name for info in classes for n in info.node.body if isinstance(n, ast.FunctionDef)}
    for source in project.files.values():
        for node in source.by_kind.get(ast.Constant, ()):
            if isinstance(node.value, str) and node.value.isidentifier():
                found.names.add(node.value)  # of a mapping that a call is given
        for node in source.by_kind.get(ast.Call, ()):
            called = project.qualname(source, node.func)
            if called == _PARTIAL and node.args:
                called = project.qualname(source, node.args[0])
            defined = project.definition(called) if called else None
            if called in project.linen_classes or (defined is not None and isinstance(defined[1], ast.ClassDef)):
                continue
            found.names.update(k.arg for k in node.keywords if k.arg is not None)
            if called is None or called.startswith("self."):
                inside = node in project.inside_modules
                found.most = max(found.most, _given_by_place(node, inside, methods))
    return found


def _given_by_place(call: ast.Call, inside: bool, methods: set[str]) -> int:
    """How many arguments a call gives a module by place, if one is called; `inside`: of a module."""
    function = call.func
    count = _MANY if any(isinstance(a, ast.Starred) for a in call.args) else len(call.args)
    if isinstance(function, ast.Attribute) and function.attr in _APPLIED:
        # Behind the variables, or the key; another method has arguments of its own.
        return count - 1 if all(k.arg != "method" for k in call.keywords) else 0
    if not inside:
        return 0  # modules are bound there
    if isinstance(function, ast.Attribute):
        own = isinstance(function.value, ast.Name) and function.value.id == "self"
        return count if function.attr == "__call__" or (own and function.attr not in methods | _OF_LINEN) else 0
    return count


__all__ = ["gives"]
