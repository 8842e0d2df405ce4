"""How a loop of a method calls the modules of a list: item by item, or picked by numbers."""

from __future__ import annotations

import ast
from typing import Any

from ...trees import subtree
from ..values.sites import Repeated, Site
from . import list_items


def runs_along(run: Any, site: Site, target: ast.expr, iterator: ast.expr, short: bool) -> bool:
    """Does a loop go through the list that holds a module, item by item? `short`: but for the last one."""
    held = {n.attr for n in subtree(iterator) if isinstance(n, ast.Attribute)}
    if site.container in held:
        return True
    named = [run.evaluated[n].value for n in subtree(iterator) if isinstance(n, ast.Name) and n in run.evaluated]
    lists = [value for value in named if isinstance(value, Repeated) and value.in_order and not value.part]
    if any(site in run.modules_in(value) for value in lists):  # `layers = self.layers`
        return True
    made = site.loops[-1].node.iter if site.loops else None
    same = made is not None and (ast.unparse(made) == ast.unparse(iterator) or list_items.as_many(made, iterator))
    counters = {n.id for n in subtree(target) if isinstance(n, ast.Name)}
    indices = [
        node.func.slice.id
        for node, _, _ in site.calls
        if isinstance(node.func, ast.Subscript) and isinstance(node.func.slice, ast.Name)
    ]
    return (same or short) and len(indices) == len(site.calls) and set(indices) <= counters


def picks(site: Site, target: ast.expr) -> bool:
    """Is a module of a list called by something other than what a loop binds: by a number that is computed?"""
    bound = {n.id for n in subtree(target) if isinstance(n, ast.Name)}
    called = [node.func for node, _, _ in site.calls]
    names = [func.slice if isinstance(func, ast.Subscript) else func for func in called]
    return all(not (isinstance(name, ast.Name) and name.id in bound) for name in names)
