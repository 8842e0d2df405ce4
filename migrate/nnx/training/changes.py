"""Params that a program changes by their names in Linen: the module is given the values in place.

    params["backbone"] = pretrained["backbone"]     →   load_params(model, {**linen_params(model), "backbone": ...})
    params = {**params, "backbone": loaded}         →   load_params(model, {**linen_params(model), "backbone": loaded})
    params = merge(params, pretrained)              →   load_params(model, merge(linen_params(model), pretrained))

What the program does with the dictionaries stays as it is, and so does a function that is given them and gives them back.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...edits import Part
from ...linen.flow import flow_changes
from ...linen.flow.flow_changes import Change
from ...linen.flow.flow_values import Function, Symbol, Value, Variables, is_params
from ...trees import subtree
from . import change_aliases, masks, trees
from .rewrite import Rewrite, Unsupported

if TYPE_CHECKING:
    from .native import _Native



def find(form: Rewrite) -> list[Change]:
    """Those of a component."""
    return [change for change in flow_changes.every(form.flow)[0] if form.within(form.flow.value(change.tree))]


def of_place(form: Rewrite, node: ast.AST) -> Change | None:
    """The change for which an expression stands."""
    return next((change for change in flow_changes.every(form.flow)[0] if change.place is node), None)


def of_symbol(form: Rewrite, symbol: Symbol) -> ast.expr | None:
    """The tree that what a name is given is made of."""
    for change in find(form):
        if change.named and symbols(form, [change.tree]) == {symbol}:
            return next(iter(flow_changes.roots(form.flow, change.value)), None)
    return None


def around(form: Rewrite, node: ast.AST) -> Change | None:
    """The change whose value an expression is read for."""
    changes = flow_changes.by_value(form.flow)
    if not changes:
        return None
    for parent in [node, *form.source(node).ancestors(node)]:
        if parent in changes:
            return changes[parent]
        if isinstance(parent, ast.stmt | ast.Lambda):
            return None
    return None


def check(form: Rewrite) -> None:
    """Unsupported where what is changed has more than names and arrays, or is changed where it need not be a model's."""
    for change in find(form):
        if masks.has_axes(form):
            raise Unsupported(change.statement, "variables with axes that are changed by their names")
        if not all(isinstance(key, ast.Constant | ast.Name) for key in change.keys):
            raise Unsupported(change.statement, "params that are changed under a computed name")
    change_aliases.check(form, find(form))


def write(form: _Native) -> None:
    """The changes in the NNX idiom."""
    for change in find(form):
        if change.named:
            if change.tree not in form.flow.loaded:  # else see `loaded`
                load, end = _load(form, change)
                form.replace(change.statement, load, change.value, end)
            continue
        if form.fields and isinstance(change.tree, ast.Attribute):
            raise Unsupported(change.statement, "params that are changed in place where other fields may hold them")
        load, end = _load(form, change)
        model = form.model_of(change.tree)
        whole = f"{form.context(change.statement).parity('linen_params')}({model})"
        keys = list(change.keys)
        if isinstance(form.flow.value(change.tree), Variables):
            if not keys or not (isinstance(keys[0], ast.Constant) and keys[0].value == "params"):
                raise Unsupported(change.statement, "variables that are changed")
            keys = keys[1:]
        if change.adds:
            held = "".join(f"[{form.text(key)}]" for key in keys)
            opened, closed = _nested(form, keys, whole)
            parts: list[Part | ast.AST] = [f"{opened}{{**{whole}{held}, **", change.value, f"}}{closed}"]
        elif keys:
            opened, closed = _nested(form, keys[:-1], whole)
            held = "".join(f"[{form.text(key)}]" for key in keys[:-1])
            parts = [f"{opened}{{**{whole}{held}, {form.text(keys[-1])}: ", change.value, f"}}{closed}"]
        else:
            parts = [change.value]
        form.replace(change.statement, load, *parts, end)
        place = change.place
        form.dropped.update(subtree(place.func if isinstance(place, ast.Call) else place))


def _nested(form: _Native, keys: list[ast.expr], whole: str) -> tuple[str, str]:
    opened, held = "", whole
    for key in keys:
        text = form.text(key)
        opened += f"{{**{held}, {text}: "
        held += f"[{text}]"
    return opened, "}" * len(keys)


def _load(form: _Native, change: Change) -> tuple[str, str]:
    value = form.flow.value(change.tree)
    item = "['params']" if change.named and isinstance(value, Variables) else ""
    return f"{form.context(change.statement).parity('load_params')}({form.model_of(change.tree)}, ", f"{item})"


def reads(form: Rewrite, node: ast.AST) -> bool:
    """Is it a tree as a whole, read for the value of a change?"""
    if not is_params(form.flow.value(node)) or not isinstance(getattr(node, "ctx", None), ast.Load):
        return False
    return around(form, node) is not None


def symbols(form: Rewrite, changed: list[ast.expr]) -> set[Symbol]:
    """The names of trees."""
    found = set()
    for node in changed:
        base: ast.AST = node
        while isinstance(base, ast.Attribute | ast.Subscript):
            base = base.value
        if isinstance(base, ast.Name):
            found.add(form.flow.symbol(form.source(base), base))
    return found


def seen_to(form: _Native, node: ast.AST, value: Value) -> bool:
    """Is a use one of params whose values are read for a change?"""
    if reads(form, node):
        if is_whole(form, node):
            form.replace(node, trees.as_in_linen(form, node))
        return True
    return isinstance(node, ast.Call) and is_params(value) and around(form, node) is not None and is_by_names(form, node)


def is_by_names(form: Rewrite, call: ast.Call) -> bool:
    """Is what a call gives a dictionary with Linen's names, once what it is given are such?

    Raises Unsupported for others: a function of the program that makes params makes the form's trees, and these go where a
    dictionary is meant.
    """
    function = form.flow.value(call.func)
    if isinstance(function, Function):
        if not function.transform and function.nodes <= flow_changes.plain(form.flow):
            return True
    elif flow_changes.remakes(form.flow, call):
        return True
    raise Unsupported(call, "params out of a call that are put into others")


def is_whole(form: Rewrite, node: ast.AST) -> bool:
    """Is it no part of another?"""
    return isinstance(node, ast.expr) and flow_changes.whole(form.flow, node) is node


def opened(form: Rewrite, node: ast.expr) -> ast.expr:
    """The params that stand in another dictionary: `params` of `unfreeze(params)` and of `dict(params)`."""
    while True:
        inner = flow_changes.inner(form.flow, node)
        if inner is None:
            return node
        node = inner


def same_names(form: Rewrite, statement: ast.Assign) -> bool:
    """`params = unfreeze(params)`"""
    target, value = statement.targets[0], opened(form, statement.value)
    if not (isinstance(target, ast.Name) and isinstance(value, ast.Name)) or value is statement.value:
        return False
    return form.flow.symbol(form.source(target), target) == form.flow.symbol(form.source(value), value)


