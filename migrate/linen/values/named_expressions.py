"""Names of a method that the constructor has no value for, said as what they are assigned: `size = (3,) * (x.ndim - 2)`."""

from __future__ import annotations

import ast
from typing import Any

from ...trees import subtree
from .arguments import is_self
from .sites import Abs, Localized
from .values import Array

_LOOPS = (ast.For, ast.While, ast.AsyncFor, ast.comprehension)


def said(run: Any, name: ast.Name, here: Abs, env: Any) -> Localized | None:
    """What the one assignment of a name gives it, where the names in it mean the same here as there."""
    if here.flags or isinstance(here.value, Array) or run.in_setup or env.method is None:
        return None
    source = env.source
    scope = source.names.binding_scope(name.id, name)
    binders = [b for b in source.names.binders(name.id) if source.names.bound_by(b) is scope]
    statement = source.parents.get(binders[0]) if len(binders) == 1 else None
    if not isinstance(scope, ast.FunctionDef) or scope is not source.function_of(name):
        return None
    if not isinstance(statement, ast.Assign) or statement.targets != binders:
        return None
    for around in source.ancestors(statement):
        if around is scope:
            break
        if isinstance(around, _LOOPS):
            return None
    value = statement.value
    if not isinstance(value, ast.BinOp | ast.Tuple) or not _means_the_same(run, value, env):
        return None
    if any(isinstance(inner, ast.List | ast.ListComp | ast.Call) for inner in subtree(value)):
        return None  # it may change until it is asked for
    found: Localized | None = run.localize(value, env)
    return found


def _means_the_same(run: Any, value: ast.expr, env: Any) -> bool:
    """Has nothing that it names another value by now? What is asked of shapes was noted there."""
    for node in subtree(value):
        if not isinstance(node, ast.Name) or (is_self(node, env) and node is not value):
            continue
        parent = env.source.parents.get(node)
        if isinstance(parent, ast.Attribute) and parent.attr in ("ndim", "shape"):
            continue
        now, then = env.get(node.id), run.evaluated.get(node)
        if now is not None and (then is None or then.value != now.value):
            return False
    return True


__all__ = ["said"]
