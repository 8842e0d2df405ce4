"""Class methods and static methods of modules that only code outside of modules calls: `StackNet.from_checkpoint(path)`.

What the functions that they call make are whole models, as what all code outside of modules makes.
"""

from __future__ import annotations

import ast
import weakref

from ...source import SourceFile
from ...trees import subtree
from ..modules.made_by_text import kind_of
from ..project.index import Project

_known: weakref.WeakKeyDictionary[Project, frozenset[ast.AST]] = weakref.WeakKeyDictionary()


def find(project: Project) -> frozenset[ast.AST]:
    """The definitions of these methods."""
    if project not in _known:
        methods = [
            (info.source, statement)
            for info in project.linen_classes.values()
            for statement in info.node.body
            if isinstance(statement, ast.FunctionDef) and kind_of(statement)
        ]
        _known[project] = frozenset(m for source, m in methods if not _is_asked_for_in_modules(project, m))
    return _known[project]


def _is_asked_for_in_modules(project: Project, method: ast.FunctionDef) -> bool:
    """Does anything in a module ask for a method that is given no module, but the method itself?"""
    own = set(subtree(method))
    for source in project.files.values():
        if method.name in source.words and any(node not in own for node in _asked(project, source, method.name)):
            return True
    return False


def _asked(project: Project, source: SourceFile, name: str) -> list[ast.AST]:
    strings = (n for n in source.by_kind.get(ast.Constant, ()) if isinstance(n, ast.Constant))
    return [*(n for n in source.saying(name) if n in project.inside_modules), *(n for n in strings if n.value == name)]


__all__ = ["find"]
