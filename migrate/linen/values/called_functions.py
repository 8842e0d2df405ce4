"""The function that a call runs, where the project has it: a local one, a method of the class, one of a module."""

from __future__ import annotations

import ast
from typing import Any

from ...source import SourceFile
from ..project.index import Project
from .sites import Function


def called_function(
    run: Any, source: SourceFile, function: ast.expr
) -> tuple[SourceFile, ast.FunctionDef | ast.Lambda] | None:
    """`function`: what stands before the parentheses, in `source`."""
    held = run.evaluated.get(function)
    if held is not None and isinstance(held.value, Function):
        return held.value.source, held.value.node
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "self":
        method = run.model.method(function.attr)
        return (method.source, method.node) if method is not None else None
    return function_of(run.project, source, function)


def function_of(project: Project, source: SourceFile, node: ast.expr) -> tuple[SourceFile, ast.FunctionDef] | None:
    """The function of the project that a name means."""
    found = project.definition(project.qualname(source, node) or "")
    return (found[0], found[1]) if found is not None and isinstance(found[1], ast.FunctionDef) else None


__all__ = ["called_function", "function_of"]
