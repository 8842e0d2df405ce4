"""Dataclasses that are no modules: one that a module derives from gives it fields."""

from __future__ import annotations

import ast

from ...source import SourceFile
from .index import Project

_DECORATORS = ("dataclasses.dataclass", "flax.struct.dataclass")


def gives_fields(project: Project, source: SourceFile, node: ast.ClassDef) -> bool:
    """Is a class that is no module a dataclass with fields?"""
    asked = [d.func if isinstance(d, ast.Call) else d for d in node.decorator_list]
    if not any(project.qualname(source, d) in _DECORATORS for d in asked):
        return False
    return any(isinstance(s, ast.AnnAssign) and "ClassVar" not in ast.unparse(s.annotation) for s in node.body)
