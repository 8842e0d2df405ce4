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


def site_of(run: Any, source: SourceFile, node: ast.AST) -> Site | None:
    """The module that an expression means, where it is one of these: a local name, or an attribute of self."""
    for site in _sites(run):
        if isinstance(node, ast.Name):
            scope = source.names.binding_scope(node.id, node)
            named = site.name is not None and site.name.constant == node.id and site.source is source
            if named and source.names.binding_scope(node.id, site.node) is scope:
                return site
        elif isinstance(node, ast.Attribute) and is_self(node.value) and site.in_setup:
            held = holder(site.source, site.node, True)
            if isinstance(held, ast.Attribute) and held.attr == node.attr:
                return site
    return None


def given(run: Any, source: SourceFile, node: ast.Call, typed: bool) -> list[ast.expr]:
    """What one of these modules is called with where a call initializes it: no first value follows from what that holds.

    `typed`: the dtypes of that are known, which classes of the project may ask for.
    """
    func = node.func
    site = site_of(run, source, func.value) if isinstance(func, ast.Attribute) and func.attr == "init" else None
    if site is None or not (typed or site.kind == "layer"):
        return []
    return [*node.args[1:], *(k.value for k in node.keywords if k.arg not in OPTIONS)]


def gives_tree(run: Any, function: Function) -> bool:
    """May an initializer give all that such a module of the project makes, or a part of it that is a tree?"""
    called = [n.func for n in subtree(function.node) if isinstance(n, ast.Call)]
    asked = [f.value for f in called if isinstance(f, ast.Attribute) and f.attr in _GIVING]
    return any((site := site_of(run, function.source, a)) is not None and site.kind == "class" for a in asked)


def is_self(node: ast.expr) -> bool:
    """`self`"""
    return isinstance(node, ast.Name) and node.id == "self"


def _sites(run: Any) -> Iterator[Site]:
    return (site for site in run.sites if DETACHED in site.renders)


__all__ = ["DETACHED", "OPTIONS", "given", "gives_tree", "holder", "is_self", "site_of"]
