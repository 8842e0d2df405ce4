"""Modules that `map` and `jax.tree.map` call themselves, in a function: `jax.tree.map(self.mlp, tree)` is
`jax.tree.map(lambda leaf: self.mlp(leaf), tree)`, and a module that is made as their argument is made by a statement before.
"""

from __future__ import annotations

import ast

from ..catalog.tree_functions import TREE_MAPS
from ..edits import EditSet
from ..linen.project.index import Project
from ..source import SourceFile
from ..trees import subtree
from .bindings import free_name, names_in
from .callees import NotInlined, is_class
from .mapped_items import TAKERS
from .steps import named_first


def with_mapped_modules(project: Project, source: SourceFile, model: ast.ClassDef) -> str | None:
    """The file with one such call of a class less; None where there is none."""
    methods = {s.name: s for s in model.body if isinstance(s, ast.FunctionDef)}
    for method in methods.values():
        for call in subtree(method):
            if not isinstance(call, ast.Call) or not _maps(project, source, call):
                continue
            function = call.args[0]
            if isinstance(function, ast.Call) and is_class(project, source, function.func):
                try:
                    return named_first(source, method, function)
                except NotInlined:
                    continue
            if _is_held(source, methods, method, function) and not _may_wait(source, call, function):
                names: list[str] = []
                for _ in call.args[1:]:
                    names.append(free_name("leaf", names_in(method) | {*names}))
                said = ", ".join(names)
                edits = EditSet(source.text)
                edits.replace(source.span(function), f"lambda {said}: {source.text_of(function)}({said})")
                return edits.render()
    return None


def _maps(project: Project, source: SourceFile, call: ast.Call) -> bool:
    """Does a call apply what it is given first to the rest, item by item?"""
    if call.keywords or len(call.args) < 2 or any(isinstance(a, ast.Starred) for a in call.args):
        return False
    if isinstance(call.func, ast.Name) and call.func.id == "map":
        return not source.names.is_hidden("map", call)
    return project.qualname(source, call.func) in TREE_MAPS


def _may_wait(source: SourceFile, call: ast.Call, function: ast.expr) -> bool:
    """May a `map` go through its items when the name that it was given means something else?"""
    if not isinstance(call.func, ast.Name) or call.func.id != "map" or not isinstance(function, ast.Name):
        return False
    parent = source.parents[call]
    if isinstance(parent, ast.Assign):
        return not all(isinstance(target, ast.Tuple | ast.List) for target in parent.targets)
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id in TAKERS:
        return source.names.is_hidden(parent.func.id, parent)
    return not isinstance(parent, ast.Starred)


def _is_held(source: SourceFile, methods: dict[str, ast.FunctionDef], method: ast.FunctionDef, node: ast.expr) -> bool:
    """May it be a module: an attribute that is no method, or a name that a call of the method is given?"""
    if isinstance(node, ast.Attribute):
        return isinstance(node.value, ast.Name) and node.value.id == "self" and node.attr not in methods
    if not isinstance(node, ast.Name) or source.names.binding_scope(node.id, node) is not method:
        return False
    bound = [source.statement_of(b) for b in source.names.binders(node.id) if source.names.bound_by(b) is method]
    return bool(bound) and all(isinstance(s, ast.Assign) and isinstance(s.value, ast.Call) for s in bound)


__all__ = ["with_mapped_modules"]
