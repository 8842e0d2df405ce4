"""Flags that a class takes by a field or at its call: `merge_param("train", self.train, train)`.

A partial may hold such a flag of the caller's call, as it may those of layers:
`partial(OwnNorm, use_running_average=not train)`. NNX takes it where what the partial makes is called.
"""

from __future__ import annotations

import ast
from typing import Any

from ..project.classes import ClassModel
from ..project.index import Project


def taken_at_call(project: Project, model: ClassModel, name: str) -> bool:
    """Does the class read a field nowhere but where it merges it with the call's argument of that name?"""
    default = next((f.default for f in model.fields() if f.name == name), None)
    method = model.method("__call__")
    if method is None or not (isinstance(default, ast.Constant) and default.value is None):
        return False
    if name not in {p.arg for p in method.parameters}:
        return False
    merged = reads(project, method, name)
    said = [n for owner in model.mro() for n in owner.nodes if isinstance(n, ast.Constant) and n.value == name]
    return bool(merged) and reads_of(model, name) <= merged and len(said) == len(merged)


def reads(project: Project, holder: Any, name: str) -> set[ast.AST]:
    """Where a method, or a class, reads a field only to merge it."""
    return {n.args[1] for n in holder.nodes if isinstance(n, ast.Call) and merges(project, holder.source, n, name)}


def merges(project: Project, source: Any, node: ast.AST, name: str) -> bool:
    """Is this `merge_param("name", self.name, name)`?"""
    if not (isinstance(node, ast.Call) and len(node.args) == 3 and not node.keywords):
        return False
    called = project.qualname(source, node.func) or ""
    key, held, given = node.args
    return (
        called.startswith("flax.linen")
        and called.endswith(".merge_param")
        and isinstance(key, ast.Constant)
        and key.value == name
        and isinstance(held, ast.Attribute)
        and held.attr == name
        and isinstance(held.value, ast.Name)
        and held.value.id == "self"
        and isinstance(given, ast.Name)
        and given.id == name
    )


def reads_of(model: ClassModel, name: str) -> set[ast.AST]:
    """Where the class and its bases read a field off an object."""
    return {n for owner in model.mro() for n in owner.nodes if isinstance(n, ast.Attribute) and n.attr == name}


__all__ = ["merges", "reads", "reads_of", "taken_at_call"]
