"""Defaults of functions within functions: Python evaluates them once, where the function is defined."""

from __future__ import annotations

import ast
import functools

from ...trees import subtree
from ..values.environment import Env
from ..values.sites import Function

_LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def place_of(function: Function, default: ast.expr) -> Env | None:
    """The names that a default reads, as they were at the definition; None where they may have changed since."""
    read = {n.id for n in subtree(default) if isinstance(n, ast.Name)}
    around = function.env
    inner = {name for name in read if isinstance(around, Env) and around.get(name) is not None}
    if not inner:
        return None if _class_names(function) & read else Env({}, function.source)
    if around.method is None or inner & _changing(around.method.node):
        return None
    return around  # type: ignore[no-any-return]


def _class_names(function: Function) -> frozenset[str]:
    """Names of the class body, which the defaults of its methods may read."""
    parents = function.source.parents
    holder = parents.get(function.node)
    if not isinstance(holder, ast.ClassDef):
        return frozenset()
    found = [t for s in holder.body if isinstance(s, ast.Assign) for t in s.targets]
    found += [s.target for s in holder.body if isinstance(s, ast.AnnAssign)]
    return frozenset(t.id for t in found if isinstance(t, ast.Name))


@functools.lru_cache(maxsize=16384)
def _changing(method: ast.AST) -> frozenset[str]:
    """Names that a method assigns more than once, in a loop, or in a function of its own."""
    once: set[str] = set()
    found: set[str] = set()
    if isinstance(method, ast.FunctionDef):
        once = {a.arg for a in subtree(method.args) if isinstance(a, ast.arg)}

    def walk(node: ast.AST, repeated: bool) -> None:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            if repeated or node.id in once:
                found.add(node.id)
            once.add(node.id)
        repeated |= isinstance(node, _LOOPS) or (node is not method and isinstance(node, ast.FunctionDef | ast.Lambda))
        for child in ast.iter_child_nodes(node):
            walk(child, repeated)

    walk(method, False)
    return frozenset(found)
