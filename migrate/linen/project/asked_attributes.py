"""Attributes of modules that code asks for otherwise than by `self.scale`."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ...source import SourceFile
from ...trees import subtree
from .index import Project

_ASK = frozenset({"hasattr", "getattr", "setattr", "delattr"})


def asked_by_name(project: Project, attributes: Iterable[str]) -> bool:
    """`hasattr(model, "scale")`, anywhere."""
    asked = frozenset(attributes)
    files = (file for file in project.files.values() if _may_ask(file, asked))
    return any(_asks(node, asked) for file in files for node in file.by_kind.get(ast.Call, ()))


def asked_by_classes(project: Project, attributes: Iterable[str]) -> bool:
    """`hasattr(self, "scale")`, and whatever else is asked so in the text of a module class."""
    asked = frozenset(attributes)
    classes = (info for info in project.linen_classes.values() if _may_ask(info.source, asked))
    return any(_asks(node, asked) for info in classes for node in subtree(info.node))


def _may_ask(file: SourceFile, asked: frozenset[str]) -> bool:
    return not (file.words.isdisjoint(asked) or file.words.isdisjoint(_ASK))


def _asks(node: ast.AST, asked: frozenset[str]) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id not in _ASK:
        return False
    return len(node.args) > 1 and isinstance(node.args[1], ast.Constant) and node.args[1].value in asked


def asked_of_arguments(method: ast.FunctionDef, attributes: Iterable[str]) -> bool:
    """`mdl.scale` in a function within a method, of an argument that it has: a lifted one is given the module."""
    asked, read, given = frozenset(attributes), set[str](), set[str]()
    for node in subtree(method):
        if isinstance(node, ast.Attribute) and node.attr in asked and isinstance(node.value, ast.Name):
            read.add(node.value.id)
        elif isinstance(node, ast.FunctionDef | ast.Lambda) and node is not method:
            given |= {a.arg for a in subtree(node.args) if isinstance(a, ast.arg)}
    return not read.isdisjoint(given - {"self"})


__all__ = ["asked_by_classes", "asked_by_name", "asked_of_arguments"]
