"""Attributes of modules that code asks for otherwise than by `self.scale`."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ...trees import subtree
from .index import Project

_ASK = frozenset({"hasattr", "getattr", "setattr", "delattr"})


def asked_by_name(project: Project, attributes: Iterable[str]) -> bool:
    """`hasattr(model, "scale")`, anywhere."""
    asked = frozenset(attributes)
    for file in project.files.values():
        if file.words.isdisjoint(asked) or file.words.isdisjoint(_ASK):
            continue
        for node in file.by_kind.get(ast.Call, ()):
            assert isinstance(node, ast.Call)
            if isinstance(node.func, ast.Name) and node.func.id in _ASK and len(node.args) > 1:
                if isinstance(node.args[1], ast.Constant) and node.args[1].value in asked:
                    return True
    return False


def asked_of_arguments(method: ast.FunctionDef, attributes: Iterable[str]) -> bool:
    """`mdl.scale` in a function within a method, of an argument that it has: a lifted one is given the module."""
    asked, read, given = frozenset(attributes), set[str](), set[str]()
    for node in subtree(method):
        if isinstance(node, ast.Attribute) and node.attr in asked and isinstance(node.value, ast.Name):
            read.add(node.value.id)
        elif isinstance(node, ast.FunctionDef | ast.Lambda) and node is not method:
            given |= {a.arg for a in subtree(node.args) if isinstance(a, ast.arg)}
    return not read.isdisjoint(given - {"self"})


__all__ = ["asked_by_name", "asked_of_arguments"]
