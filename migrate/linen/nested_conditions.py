"""`if self.cross and memory is not None:` as two conditions, one within the other: the constructor asks each by itself."""

from __future__ import annotations

import ast
from typing import Any

from ..trees import subtree
from .presence import Presence

_LEAVES = (ast.Return, ast.Raise, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom)
_ASKS = frozenset({"len", "isinstance", "hasattr", "getattr", "bool", "any", "all"})


def nested(run: Any, node: ast.If, env: Any) -> ast.If | None:
    """The condition with each part of its `and` in a statement of its own, where one part is whether an array is given.

    None where its parts cannot all be said, or where the other side has statements too.
    """
    test = node.test
    if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.And) or node.orelse or env.method is None:
        return None
    known: ast.If | None = run.analyser.nested.get(node)
    if known is not None:
        return known
    if any(isinstance(n, _LEAVES) for n in subtree(node)) or any(not _is_plain(n) for n in subtree(test)):
        return None
    found = [run.evaluate(part, env) for part in test.values]
    said = [run.condition(part, value, env)[:2] for part, value in zip(test.values, found)]
    if not any(isinstance(value.value, Presence) for value in found) or any(s == (None, "") for s in said):
        return None
    body = node.body
    for part in reversed(test.values):
        body = [ast.copy_location(ast.If(part, body, []), node)]
    run.analyser.nested[node] = body[0]
    return body[0] if isinstance(body[0], ast.If) else None


def _is_plain(node: ast.AST) -> bool:
    """Does it make nothing, however often it is asked?"""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in _ASKS
    return not isinstance(node, ast.NamedExpr | ast.Await)


__all__ = ["nested"]
