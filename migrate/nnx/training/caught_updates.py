"""Errors that leave a function behind an update: in Linen its caller has the old state still, and a module is updated.

def step(state, x):
    state = state.apply_gradients(grads=grads(state, x))
    if loss > limit: raise Diverged
    return state

try: state = step(state, x)
except Diverged: pass          # and goes on with the state from before
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.flow.flow_values import Function, Tracked
from ...trees import subtree
from . import awaited_errors, old_values
from .places import exclusive, loops_around
from .rewrite import Unsupported

if TYPE_CHECKING:
    from .native import _Native

_SAFE = frozenset({"print", "float", "int", "bool", "str", "len", "min", "max", "abs", "dict", "list", "tuple", "range"})
_LIBRARIES = ("jax.", "optax.", "flax.", "numpy.")


def check(form: _Native) -> None:
    """Unsupported where such an error is caught, and the state read behind that."""
    found = old_values.updates(form)
    raising: set[ast.AST] = set()
    for update in found:
        function = form.function(update)
        if function is not None and function not in raising and _raises_behind(form, function, update):
            raising.add(function)
    todo = list(raising)
    while todo:
        function = todo.pop()
        for call in form.flow.callers.get(function, {}):
            if call not in found:
                continue
            caught = _catching(form, call)
            if caught is not None and _goes_on(form, call, caught):
                raise Unsupported(call, "an error behind an update that is caught")
            above = form.function(call)
            if above is not None and above not in raising and not _kept_at_once(form, call):
                raising.add(above)
                todo.append(above)


def _raises_behind(form: _Native, function: ast.AST, update: ast.expr) -> bool:
    """May the function end by an error of its own once an update is made whose result is its own, too?"""
    if _kept_at_once(form, update):
        return False
    around = loops_around(form, update, function)
    for node in subtree(function):
        if not _raises(form, node, set()) or form.function(node) is not function:
            continue
        behind = (node.lineno, node.col_offset) > (update.lineno, update.col_offset)  # type: ignore[attr-defined]
        if (behind and not exclusive(form, node, update)) or around & loops_around(form, node, function):
            return True
    return False


def _kept_at_once(form: _Native, update: ast.expr) -> bool:
    """Is the result given to attributes or names of the file, where it is whatever comes next?"""
    targets = old_values.targets(form, update)
    return bool(targets) and all(scope is None or isinstance(scope, ast.ClassDef) for _, scope, _ in targets)


def _raises(form: _Native, node: ast.AST, seen: set[ast.AST]) -> bool:
    """May it raise: by itself, as what asks for items or iterates, as a call of what is not known, or in the project?"""
    if isinstance(node, ast.Raise | ast.Assert | ast.Await | ast.Yield | ast.YieldFrom | ast.For):
        return True
    if isinstance(node, ast.Subscript):
        return isinstance(node.ctx, ast.Load)
    if not isinstance(node, ast.Call):
        return False
    callee = form.flow.value(node.func)
    if isinstance(callee, Function):
        called = callee.nodes - seen
        seen |= called
        return any(_raises(form, inner, seen) for function in called for inner in subtree(function))
    name = form.flow.name(node.func) or ""
    return not (isinstance(callee, Tracked) or name in _SAFE or name.startswith(_LIBRARIES))


def _catching(form: _Native, call: ast.expr) -> ast.AST | None:
    """What catches the errors of a call in its function, or does something before they go on."""
    source = form.source(call)
    inner: ast.AST = call
    for outer in source.ancestors(call):
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            return None
        ends = isinstance(outer, ast.Try) and bool(outer.finalbody) and inner in outer.body
        if ends or awaited_errors.waits(form.flow.project, source, outer, inner):
            return outer
        inner = outer
    return None


def _goes_on(form: _Native, call: ast.expr, caught: ast.AST) -> bool:
    """Is the state that the call was given read once its error is caught?"""
    symbols = old_values.given(form, call) | old_values.targets(form, call)
    around = loops_around(form, call, form.function(call))
    body = caught.body[-1] if isinstance(caught, ast.Try) else caught
    end = body.end_lineno, body.end_col_offset  # type: ignore[attr-defined]
    reads = [
        node
        for node, _ in form.uses
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        if form.flow.symbol(form.source(node), node) in symbols
    ]
    if not symbols or any(scope is None and form.function(call) is not None for _, scope, _ in symbols):
        return True
    return any(
        (node.lineno, node.col_offset) > end
        or form.function(node) is not form.function(call)
        or around & loops_around(form, node, form.function(call))
        for node in reads
    )
