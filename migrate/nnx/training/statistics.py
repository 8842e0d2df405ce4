"""Batch statistics in the NNX idiom: the model updates them when it is called, Linen when the state takes them over.

That is the same only where, from the one call that updates them to the `apply_gradients` that takes the update, nobody
else reads or updates them, and where the one never happens without the other.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.flow.flow_values import Function, Method, Tracked
from ...trees import subtree
from .rewrite import Unsupported
from .state_updates import is_update

if TYPE_CHECKING:
    from .native import _Native

_BRANCHES = (ast.If, ast.For, ast.While, ast.Try, ast.IfExp, ast.BoolOp, ast.comprehension, ast.Lambda, ast.Match)


def check(form: _Native) -> None:
    """Unsupported where some call that updates the statistics is not followed at once by their taking over."""
    if "batch_stats" not in form.plan.collections:
        return
    applies = [
        parent
        for node, value in form.uses
        if isinstance(value, Method) and value.name == "apply"
        for parent in [form.parent(node)]
        if isinstance(parent, ast.Call) and parent.func is node
    ]
    for call in applies:
        if any(k.arg == "mutable" and not _is_false(k.value) for k in call.keywords):
            _followed(form, call, applies)


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def _followed(form: _Native, call: ast.Call, applies: list[ast.Call]) -> None:
    loss = form.function(call)
    updated = _updates_in(form, loss)
    at = call
    if not updated:
        # A loss: it is called once, by the function that applies the gradients.
        _straight(form, call, loss)
        if loss is None or any(other is not call and _inside(other, loss) for other in applies):
            raise Unsupported(call, "statistics that a loss reads besides updating them")
        _quiet(form, loss, call)
        callers = [at for at in form.flow.callers.get(loss, {}) if not _inside(at, loss)]
        if len(callers) != 1:
            raise Unsupported(call, "statistics that are updated by several calls")
        at = callers[0]
        updated = _updates_in(form, form.function(at))
    if len(updated) != 1:
        raise Unsupported(call, "statistics that are updated without being taken over once")
    first, last = form.statement(at), form.statement(updated[0])
    block = form.block(first)
    if last not in block or block.index(first) >= block.index(last):
        raise Unsupported(call, "statistics that are taken over under other conditions than they are updated")
    if any(isinstance(parent, _BRANCHES) for parent in _between(form, at, first)):
        raise Unsupported(call, "statistics that are updated within an expression")
    between = block[block.index(first) : block.index(last) + 1]
    for statement in between:
        for other in applies:
            if other is not call and _inside(other, statement) and not (loss is not None and _inside(other, loss)):
                raise Unsupported(other, "statistics that are read before they are taken over")
        if statement is not first:
            _quiet(form, statement, None)
            if any(isinstance(node, ast.Return) for node in subtree(statement)) and statement is not last:
                raise Unsupported(call, "a step that may end before it takes the statistics over")


def _updates_in(form: _Native, function: ast.AST | None) -> list[ast.Call]:
    """Calls of apply_gradients or replace with batch_stats, directly in a function."""
    found = []
    for node, _ in form.uses:
        if isinstance(node, ast.Call) and is_update(form, node) and form.function(node) is function:
            if any(k.arg == "batch_stats" for k in node.keywords):
                found.append(node)
    return found


def _straight(form: _Native, call: ast.Call, function: ast.AST | None) -> None:
    for parent in form.source(call).ancestors(call):
        if parent is function:
            return
        if isinstance(parent, _BRANCHES):
            raise Unsupported(call, "statistics that are updated under a condition or in a loop")


def _quiet(form: _Native, node: ast.AST, but: ast.Call | None) -> None:
    """Unsupported where functions of the project are given the state or its variables, and may read the statistics."""
    for found in subtree(node):
        if isinstance(found, ast.Call) and found is not but and isinstance(form.flow.value(found.func), Function):
            given = [*found.args, *[k.value for k in found.keywords]]
            if any(isinstance(form.flow.value(g), Tracked) and form.component.holds(form.flow.value(g)) for g in given):
                raise Unsupported(found, "statistics that another function may read before they are taken over")


def _between(form: _Native, node: ast.AST, statement: ast.stmt) -> list[ast.AST]:
    found = []
    for parent in form.source(node).ancestors(node):
        if parent is statement:
            break
        found.append(parent)
    return found


def _inside(node: ast.AST, outer: ast.AST) -> bool:
    return any(found is node for found in subtree(outer))
