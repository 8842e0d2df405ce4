"""Modules that a method makes or not by sizes that are not known: `if x.shape[1] != self.length: x = nn.Dense(4)(x)`.

The call on shapes makes those that it comes by, as Linen's `init` does. Linen counts what it makes, and so does the migrated
call.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from ...trees import subtree
from ..values import shown_by_shapes
from ..values.environment import Env
from ..values.sites import Abs, Site
from ..values.values import Array, Shape, Unknown
from .by_passes import IN_TURN
from .made_later import method_of

BY_SIZES = "by sizes"  # it is made if the call on shapes calls it: the conditions that decide


def leave(run: Any, node: ast.If, site: Site, env: Env) -> bool:
    """Leave a module to the call on shapes; False where that may not decide whether there is one."""
    if run.model.qualname not in run.analyser.later or not is_shown(run, node.test, env.source):
        return False
    if run.model.qualname in run.analyser.given_outside.handed and _asks_for_keys(node.test):
        return False  # the first call of the program, by which it is made, says whether there is one
    if site.loops and _asks_for_optional(run, node.test, env.source):
        return False  # the class is made without it
    if site.kind not in ("layer", "class") or site.through or site.source is not run.model.source or env.parent is not None:
        return False
    site.renders[BY_SIZES] = (*site.renders.get(BY_SIZES, ()), node)
    if site.name is None:
        site.renders[IN_TURN] = 0
    return True


def is_shown(run: Any, test: ast.expr, source: Any) -> bool:
    """Does a condition ask for shapes and fields alone?"""
    method = method_of(run, source, test)
    return method is not None and shown_by_shapes.shown(run, method, test)


def _asks_for_keys(test: ast.expr) -> bool:
    """`"states" in obs`"""
    return any(isinstance(n, ast.Compare) and isinstance(n.ops[0], ast.In | ast.NotIn) for n in subtree(test))


def _asks_for_optional(run: Any, test: ast.expr, source: Any) -> bool:
    """`context is not None` of an argument that a call may leave out"""
    method = method_of(run, source, test)
    names = {n.id for n in subtree(test) if isinstance(n, ast.Name)}
    return method is not None and any(p.arg in names and method.default(p.arg) is not None for p in method.parameters)


def open_values(node: ast.If, sites: Sequence[Site], env: Env, sides: tuple[Env, Env]) -> None:
    """What the sides of such a condition leave has no size of one of them."""
    if not any(BY_SIZES in site.renders and any(test is node for test, _ in site.conditions) for site in sites):
        return
    for name in env.names.keys() & sides[0].names.keys() & sides[1].names.keys():
        one, other = (side.names[name] for side in sides)
        if one != other:
            arrays = isinstance(one.value, Array) and isinstance(other.value, Array)
            value = Array(Shape.unknown()) if arrays else Unknown(name)
            env.names[name] = Abs(value, False, one.flags | other.flags)


__all__ = ["BY_SIZES", "is_shown", "leave", "open_values"]
