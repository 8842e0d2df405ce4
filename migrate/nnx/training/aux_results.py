"""Updated statistics among what functions return: the module keeps them itself, so they go out of every result.

    return loss, (updates, logits)                            →   return loss, logits
    (loss, (updates, logits)), grads = grad_fn(params)        →   (loss, logits), grads = grad_fn(model)
    aux, grads = grad_fn(params); updates, logits = aux[1]    →   aux, grads = grad_fn(model); logits = aux[1]

A tuple of which one item is left becomes that item. `statistics` sees to it that each update is taken over once.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.flow.flow_values import Collection, Function, Items, Method, Symbol, Updated, Value
from ...trees import subtree
from .rewrite import Unsupported

if TYPE_CHECKING:
    from .native import _Native


def is_update(form: _Native, value: Value | None) -> bool:
    """Is a value what `apply(..., mutable=['batch_stats'])` returned besides its output, or the statistics in it?"""
    updated = isinstance(value, Updated) or (isinstance(value, Collection) and value.updated)
    return updated and form.component.holds(value)  # type: ignore[arg-type]


def holds(form: _Native, value: Value | None) -> bool:
    """Is there one in a result?"""
    if isinstance(value, Items):
        return any(holds(form, item) for item in value.items)
    return is_update(form, value)


def write(form: _Native) -> None:
    """Take them out of returns, out of what calls are assigned to, and out of the names for whole results."""
    for function, value in form.flow.returns.items():
        if isinstance(value, Items) and holds(form, value):
            _returns(form, function)
    seen: set[Symbol] = set()
    for node, value in form.flow.uses.items:
        if isinstance(node, ast.Call):
            if holds(form, value) and isinstance(form.flow.value(node.func), Function):
                _result(form, node, value)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            if holds(form, value):
                seen.add(form.flow.symbol(form.source(node), node))
                _named(form, node, value)


# what functions return ---------------------------------------------------------------------------------------------
def _returns(form: _Native, function: ast.AST) -> None:
    if isinstance(function, ast.Lambda):
        _returned(form, function.body)
        return
    for statement in subtree(function):
        if isinstance(statement, ast.Return) and form.function(statement) is function and statement.value is not None:
            _returned(form, statement.value)


def _returned(form: _Native, node: ast.expr) -> None:
    value = form.flow.value(node)
    if isinstance(node, ast.Call) and isinstance(form.flow.value(node.func), Function | Method):
        return  # of another such function, or of the model
    if not isinstance(value, Items) or not isinstance(node, ast.Tuple):
        raise Unsupported(node, "updated statistics in a result that is not spelled out")
    for element in node.elts:
        if (
            not isinstance(element, ast.Tuple)
            and isinstance(form.flow.value(element), Items)
            and holds(form, form.flow.value(element))
        ):
            raise Unsupported(element, "updated statistics in a result that is not spelled out")
    _rewrite(form, node)


def _rewrite(form: _Native, node: ast.Tuple) -> None:
    """A tuple without the updates in it."""
    gone: list[ast.AST] = []
    for element in node.elts:
        if is_update(form, form.flow.value(element)):
            form.dropped.update(subtree(element))
            gone.append(element)
        elif isinstance(element, ast.Tuple) and holds(form, form.flow.value(element)):
            _rewrite(form, element)
    if len(gone) == len(node.elts):
        raise Unsupported(node, "a tuple that would be empty")
    if gone:
        form.remove(node, gone)


# where results go --------------------------------------------------------------------------------------------------
def _result(form: _Native, call: ast.Call, value: Items) -> None:
    parent = form.parent(call)
    if isinstance(parent, ast.Return | ast.Lambda | ast.Expr):
        return
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
        _target(form, parent.targets[0], value)
        return
    raise Unsupported(call, "updated statistics in a result within an expression")


def _target(form: _Native, target: ast.expr, value: Value) -> None:
    """Take the updates' names out of a target; a name for all of it is seen to where it is read."""
    if isinstance(target, ast.Name) or not isinstance(value, Items):
        return
    if not isinstance(target, ast.Tuple) or len(target.elts) != len(value.items):
        raise Unsupported(target, "updated statistics in a result that is not unpacked")
    gone: list[ast.AST] = []
    for element, item in zip(target.elts, value.items, strict=True):
        if is_update(form, item):
            if not isinstance(element, ast.Name):
                raise Unsupported(element, "updated statistics that are not under a name")
            if element.id != "_" and not _read(form, element):
                raise Unsupported(element, "updates that are thrown away")
            form.dropped.update(subtree(element))
            gone.append(element)
        elif holds(form, item):
            _target(form, element, item)
    if len(gone) == len(target.elts):
        raise Unsupported(target, "a tuple that would be empty")
    if gone:
        form.remove(target, gone)


def _read(form: _Native, name: ast.Name) -> bool:
    symbol = form.flow.symbol(form.source(name), name)
    return any(
        isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and form.flow.symbol(form.source(node), node) == symbol
        for node, _ in form.uses
    )


def _named(form: _Native, name: ast.Name, value: Items) -> None:
    """`aux`, `aux[1]` and `aux[1][0]` where `aux` is a whole result."""
    node: ast.expr = name
    held: Value = value
    path = ""
    parent = form.parent(node)
    while isinstance(parent, ast.Subscript) and parent.value is node and isinstance(held, Items):
        index = parent.slice.value if isinstance(parent.slice, ast.Constant) else None
        if not isinstance(index, int) or not -len(held.items) <= index < len(held.items):
            raise Unsupported(parent, "updated statistics in a result that is not unpacked")
        left = [i for i, item in enumerate(held.items) if not is_update(form, item)]
        index %= len(held.items)
        if index not in left:
            return  # the updates themselves: seen to with what takes them over
        path += f"[{left.index(index)}]" if len(left) > 1 else ""
        held = held.items[index]
        node, parent = parent, form.parent(parent)
    if isinstance(parent, ast.Assign) and parent.value is node and len(parent.targets) == 1:
        _target(form, parent.targets[0], held)
    elif holds(form, held):
        raise Unsupported(node, "updated statistics in a result that is handed on")
    if node is not name:
        form.replace(node, name, path)


def kept_name(form: _Native, name: ast.Name) -> bool:
    """`batch_stats = updates['batch_stats']` goes."""
    statement = form.statement(name)
    if not (isinstance(statement, ast.Assign) and statement.targets == [name]):
        return False
    if not is_update(form, form.flow.value(statement.value)) or not _read(form, name):
        return False
    form.delete(statement)
    return True
