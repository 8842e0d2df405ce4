"""What variables start from: `bias_init=STARTS[self.start](x.shape[-1])`, `self.param("scale", start, shape)`.

A function that fields pick may give anything, a module too. What layers and parameters are given to start from is none.
"""

from __future__ import annotations

import ast
from typing import Any

from ...trees import subtree


def is_start(node: ast.expr, env: Any) -> bool:
    """Does an expression give nothing but what variables start from, there or by the name that it is assigned to?"""
    parents = env.source.parents
    if _starts(node, parents):
        return True
    assigned = _outermost(node, parents)
    statement = parents.get(assigned)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if not isinstance(target, ast.Name):
        return False
    name, function = target.id, env.source.function_of(statement)
    reads = [n for n in subtree(function) if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)]
    return bool(reads) and all(_starts(read, parents) for read in reads)


def _starts(node: ast.expr, parents: Any) -> bool:
    node = _outermost(node, parents)
    parent = parents.get(node)
    if isinstance(parent, ast.keyword):
        return (parent.arg or "").endswith("_init")
    func = parent.func if isinstance(parent, ast.Call) else None
    own = isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "self"
    return own and func.attr == "param" and len(parent.args) > 1 and parent.args[1] is node  # type: ignore[union-attr]


def _outermost(node: ast.expr, parents: Any) -> ast.expr:
    """The conditional expression that gives it."""
    while isinstance(parent := parents.get(node), ast.IfExp) and parent.test is not node:
        node = parent
    return node


__all__ = ["is_start"]
