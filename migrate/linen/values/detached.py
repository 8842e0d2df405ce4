"""Which expressions mean a module that is initialized and applied with variables from elsewhere: see `detached_models`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from ...source import SourceFile
from ...trees import subtree
from .sites import Function, Site

DETACHED = "detached"
_GIVING = frozenset({"init", "init_with_output"})
OPTIONS = frozenset({"rngs", "mutable"})  # what `init` and `apply` are told beside what the module is called with


def holder(source: SourceFile, node: ast.Call, in_setup: bool) -> ast.Name | ast.Attribute | None:
    """The local name, or in setup the attribute of self, to which a module is assigned."""
    statement = source.parents.get(node)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or statement.value is not node:
        return None
    (target,) = statement.targets
    if in_setup:
        return target if isinstance(target, ast.Attribute) and is_self(target.value) else None
    return target if isinstance(target, ast.Name) else None


def is_asked(run: Any, source: SourceFile, node: ast.AST) -> bool:
    """Is an expression one of these modules: a local name, or an attribute of self?"""
    if isinstance(node, ast.Name):
        scope = source.names.binding_scope(node.id, node)
        held = [s for s in _sites(run) if s.name is not None and s.name.constant == node.id and s.source is source]
        return any(source.names.binding_scope(node.id, s.node) is scope for s in held)
    if not isinstance(node, ast.Attribute) or not is_self(node.value):
        return False
    holders = [holder(s.source, s.node, True) for s in _sites(run) if s.in_setup]
    return any(isinstance(h, ast.Attribute) and h.attr == node.attr for h in holders)


def given(run: Any, source: SourceFile, node: ast.AST) -> list[ast.expr]:
    """What one of these modules is called with where a call initializes it: no first value follows from what that holds."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "init":
        return []
    if not is_asked(run, source, node.func.value):
        return []
    return [*node.args[1:], *(k.value for k in node.keywords if k.arg not in OPTIONS)]


def gives_tree(run: Any, function: Function) -> bool:
    """May an initializer give all that such a module of the project makes, or a part of it that is a tree?"""
    called = [n.func for n in subtree(function.node) if isinstance(n, ast.Call)]
    named = (f for f in called if isinstance(f, ast.Attribute) and f.attr in _GIVING)
    return any(is_asked(run, function.source, f.value) for f in named) and any(site.kind == "class" for site in _sites(run))


def is_self(node: ast.expr) -> bool:
    """`self`"""
    return isinstance(node, ast.Name) and node.id == "self"


def _sites(run: Any) -> Iterator[Site]:
    return (site for site in run.sites if DETACHED in site.renders)


__all__ = ["DETACHED", "OPTIONS", "given", "gives_tree", "holder", "is_asked", "is_self"]
