"""Class methods and static methods of modules that only code outside of modules calls: `StackNet.from_checkpoint(path)`.

What they make, as do the functions that they call, are whole models, as what all code outside of modules makes.
"""

from __future__ import annotations

import ast
import weakref
from collections.abc import Iterator

from ...source import SourceFile
from ...trees import subtree
from ..modules.made_by_text import kind_of
from ..project.index import Project

_known: weakref.WeakKeyDictionary[Project, frozenset[ast.AST]] = weakref.WeakKeyDictionary()


def find(project: Project) -> frozenset[ast.AST]:
    """The definitions of these methods."""
    if project not in _known:
        found = {
            statement
            for info in project.linen_classes.values()
            for statement in info.node.body
            if isinstance(statement, ast.FunctionDef) and kind_of(statement)
        }
        while True:
            own = {node for method in found for node in subtree(method)}
            asked = {m for m in found if any(node not in own for node in _asked(project, m.name))}
            if not asked:
                break
            found -= asked
        _known[project] = frozenset(found)
    return _known[project]


def own_class(project: Project, source: SourceFile, node: ast.expr) -> str:
    """The class that `cls` is in such a class method; "" for anything else."""
    if not isinstance(node, ast.Name):
        return ""
    function = source.function_of(node)
    if function not in find(project) or not isinstance(function, ast.FunctionDef) or kind_of(function) != "classmethod":
        return ""
    first = next((a.arg for a in (*function.args.posonlyargs, *function.args.args)), None)
    changed = [n for n in source.names.binders(node.id) if source.names.bound_by(n) is function]
    if node.id != first or len(changed) != 1:
        return ""
    return next((name for name, info in project.linen_classes.items() if info.node is source.parents[function]), "")


def _asked(project: Project, name: str) -> Iterator[ast.AST]:
    """Where modules ask for a method of that name, and strings that say it."""
    for source in project.files.values():
        if name not in source.words:
            continue
        for node in source.saying(name):
            whole = isinstance(node, ast.Attribute) or isinstance(source.names.scope_of(node), ast.ClassDef)
            if whole and node in project.inside_modules:
                yield node
        for said in source.by_kind.get(ast.Constant, ()):
            if isinstance(said, ast.Constant) and said.value == name:
                yield said


__all__ = ["find", "own_class"]
