"""Methods that hand an input with more dimensions to themselves: `if x.ndim > 4: return nn.BatchApply(self.__call__)(x)`.

Linen enters the method once more, and makes its modules there, by the lines below the condition. What these are made of says
the constructor, whatever the condition says: the way through the method itself makes nothing.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...trees import subtree
from ..values.environment import Env, Returned
from ..values.sites import Unmigratable
from ..values.values import Array
from ..values.wrappers import is_wrapper

if TYPE_CHECKING:
    from ..execution.execute import Execution

_FOLLOWED = (ast.Assign, ast.AnnAssign, ast.Expr, ast.Return, ast.Assert)


def enters_again(run: Execution, node: ast.If, env: Env) -> bool:
    """Does a condition's body return what the method gives that is being executed, of other inputs?"""
    method = env.method
    if method is None or run.in_setup or not run.active or run.active[-1] is not method.node or node.orelse:
        return False
    own = run.model.method(method.name)
    if own is None or own.node is not method.node:  # a base's method, by which the subclass's own is entered
        return False
    if not isinstance(node.body[-1], ast.Return) or not all(isinstance(s, _FOLLOWED) for s in node.body):
        return False
    return any(_names_method(part, method.name) for s in node.body for part in subtree(s))


def _names_method(node: ast.AST, name: str) -> bool:
    """Is this `self(...)` or `self.__call__`?"""
    if isinstance(node, ast.Call):
        return name == "__call__" and _is_self(node.func)
    return isinstance(node, ast.Attribute) and node.attr == name and _is_self(node.value)


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def follow(run: Execution, node: ast.If, env: Env) -> None:
    """Execute the way through the method itself, which may not make anything, nor change the inputs' last dimension."""
    method, mark = env.method, len(run.sites)
    assert method is not None
    made = any(s.method == run.entry and not s.in_setup and s.kind != "rng" and not is_wrapper(s) for s in run.sites)
    run.active.append(method.node)  # so that it is not entered
    try:
        run.run_block(node.body, env.copy(), Returned())
    finally:
        run.active.pop()
        run.cut_short.discard(method.node)
    if made or any(not is_wrapper(site) for site in run.sites[mark:]):
        reason = f"`{method.name}` calls itself under `{ast.unparse(node.test)}`, and makes modules before or beside that"
        raise Unmigratable("NNX134", reason, node)
    first = method.parameters[0].arg if method.parameters else ""
    given = env.get(first)
    for part in (p for s in node.body for p in subtree(s)):
        if not isinstance(part, ast.Call) or not part.args or not _names_method(_callee(part), method.name):
            continue
        handed = run.evaluated.get(part.args[0])
        if given is None or handed is None or not isinstance(given.value, Array) or not isinstance(handed.value, Array):
            continue
        sizes = given.value.shape.dim(-1), handed.value.shape.dim(-1)
        if sizes[0] is not None and sizes[1] is not None and sizes[0] != sizes[1]:
            reason = f"`{ast.unparse(part)}` calls the method itself with another width than its `{first}` has"
            raise Unmigratable("NNX110", reason, part)


def _callee(node: ast.Call) -> ast.AST:
    """What names the method in a call of it."""
    return node if isinstance(node.func, ast.Name) else node.func


__all__ = ["enters_again", "follow"]
