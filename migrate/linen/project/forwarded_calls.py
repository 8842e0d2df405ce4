"""Calls that only hand on what they are given: `__call__(self, *args, **kwargs)` is `self.forward(*args, **kwargs)`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...source import SourceFile
from ...trees import subtree

if TYPE_CHECKING:
    from .index import Project

_PLAIN = frozenset({"flax.linen.compact", "flax.linen.nowrap"})


def forwarded(
    project: Project, source: SourceFile, model: ast.ClassDef
) -> tuple[ast.FunctionDef, ast.Call, ast.FunctionDef] | None:
    """Such a `__call__` of a class, the call in it, and the method of the class that it calls.

    None for any other, and where the method may be another's: one of a derived class takes what it likes.
    """
    methods = [s for s in model.body if isinstance(s, ast.FunctionDef)]
    call = next((m for m in methods if m.name == "__call__"), None)
    handed = _handed(call) if call is not None else None
    if call is None or handed is None or not isinstance(handed.func, ast.Attribute):
        return None
    named = [m for m in methods if m.name == handed.func.attr]
    if len(named) != 1 or named[0] is call or _is_overridden(project, f"{source.module}.{model.name}", named[0].name):
        return None
    (method,) = named
    spec = method.args
    if any(project.qualname(source, d) not in _PLAIN for d in (*call.decorator_list, *method.decorator_list)):
        return None
    if spec.vararg or spec.kwarg or spec.posonlyargs or not spec.args or spec.args[0].arg != call.args.args[0].arg:
        return None
    if spec.kwonlyargs and call.args.kwarg is None and None in spec.kw_defaults:
        return None
    own = {n.id for s in model.body for n in subtree(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    defaults = [d for d in (*spec.defaults, *spec.kw_defaults) if d is not None]
    if any(isinstance(n, ast.Name) and n.id in own for d in defaults for n in subtree(d)):
        return None  # one of the class body, which may not be there yet
    return call, handed, method


def _handed(call: ast.FunctionDef) -> ast.Call | None:
    """The `self.forward(*args, **kwargs)` that is all of a method."""
    spec = call.args
    if len(spec.args) != 1 or spec.posonlyargs or spec.kwonlyargs or spec.vararg is None:
        return None
    body = call.body[1:] if ast.get_docstring(call, clean=False) is not None else call.body
    value = body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return None
    of_self = isinstance(value.func.value, ast.Name) and value.func.value.id == spec.args[0].arg
    starred = len(value.args) == 1 and isinstance(value.args[0], ast.Starred) and _is(value.args[0].value, spec.vararg)
    named = [k for k in value.keywords if k.arg is None and spec.kwarg is not None and _is(k.value, spec.kwarg)]
    whole = len(value.keywords) == len(named) == (spec.kwarg is not None)
    return value if of_self and starred and whole else None


def _is(node: ast.expr, argument: ast.arg) -> bool:
    return isinstance(node, ast.Name) and node.id == argument.arg


def _is_overridden(project: Project, qualname: str, method: str) -> bool:
    """Does a class that derives from this one, through any number of others, have a method of that name of its own?"""
    family, grown = {qualname}, True
    while grown:
        derived = {name for name, info in project.linen_classes.items() if family & set(info.bases)}
        grown = not derived <= family
        family |= derived
    own = [project.linen_classes[name].node for name in family - {qualname}]
    return any(isinstance(s, ast.FunctionDef) and s.name == method for node in own for s in node.body)


__all__ = ["forwarded"]
