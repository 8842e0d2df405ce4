"""Partials of functions that make modules: `block = functools.partial(conv_block, act=nn.gelu)`, then `block(x, 8)`."""

from __future__ import annotations

import ast
from typing import TypeGuard

from ..linen.project.index import Project
from ..source import SourceFile
from ..trees import subtree
from .stable import bound_once, is_stable


def partial_of(project: Project, source: SourceFile, func: ast.expr) -> tuple[ast.Call, SourceFile] | None:
    """The partial that a name holds in its method, or in the file that defines it; None where it may be another.

    What it binds must be the same where the name is called.
    """
    if is_partial(func, project, source):
        return func, source  # `functools.partial(block, n=3)(x)`
    method = next((a for a in source.ancestors(func) if isinstance(a, ast.FunctionDef | ast.Lambda)), None)
    if isinstance(func, ast.Name) and source.names.binding_scope(func.id, func) is not None:
        value = bound_once(source, method, func) if isinstance(method, ast.FunctionDef) else None
        if not isinstance(method, ast.FunctionDef) or value is None or not is_partial(value, project, source):
            return None
        bound = [*value.args[1:], *[k.value for k in value.keywords]]
        return (value, source) if all(is_stable(source, method, node) for node in bound) else None
    name = project.qualname(source, func) if isinstance(func, ast.Name | ast.Attribute) else None
    found = project.definition(name or "")
    held = found[1].value if found is not None and isinstance(found[1], ast.Assign) else None
    if found is None or held is None or not is_partial(held, project, found[0]):
        return None
    home, local = found[0], (name or "").rpartition(".")[2]
    if len([n for n in home.names.binders(local) if home.names.bound_by(n) is None]) != 1:
        return None
    named = [n for n in subtree(held) if isinstance(n, ast.Name)]
    once = all(len([b for b in home.names.binders(n.id) if home.names.bound_by(b) is None]) <= 1 for n in named)
    return (held, home) if once else None


def is_partial(node: ast.expr, project: Project, source: SourceFile) -> TypeGuard[ast.Call]:
    """Is it a partial of which all is seen that it binds?"""
    called = isinstance(node, ast.Call) and project.qualname(source, node.func) == "functools.partial"
    if not called or not isinstance(node, ast.Call) or not node.args:
        return False
    return not any(isinstance(a, ast.Starred) for a in node.args) and all(k.arg is not None for k in node.keywords)


__all__ = ["is_partial", "partial_of"]
