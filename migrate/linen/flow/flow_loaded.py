"""Params, states and states of optimizers that are loaded, under the name that they have: `params = load(path)`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...source import SourceFile
from ...trees import subtree
from .flow_values import (
    ANY,
    Items,
    Nothing,
    OptState,
    Record,
    State,
    Symbol,
    Value,
    is_params,
    is_sequence,
    sites_of,
)

if TYPE_CHECKING:
    from .flow import Flow


_LOADING = re.compile(r"load|restor|resum|checkpoint|ckpt|pretrained|unflatten|unpickle")


def names(flow: Flow, source: SourceFile, statement: ast.Assign, value: Value) -> Iterator[ast.expr]:
    """The names and attributes to which an assignment gives values from elsewhere, in the place of those that they have.

    `params = load_params(path)` below `params = model.init(key, x)["params"]`, `state = restored["state"]`, and
    `params, step = restore(path)`. That is told by what is said of it: any other value of one of these names is something
    that is not followed.
    """
    if len(statement.targets) != 1:
        return
    target, given = statement.targets[0], statement.value
    if not isinstance(target, ast.Tuple):
        if _is_given(flow, source, target, given, value):
            yield target
        return
    beside = isinstance(given, ast.Tuple) and len(given.elts) == len(target.elts)
    for index, element in enumerate(target.elts):
        if beside:
            item = given.elts[index]  # type: ignore[attr-defined]
            found = _is_given(flow, source, element, item, flow.value(item))
        else:
            held = value.items[index] if isinstance(value, Items) and is_sequence(value, len(target.elts)) else value
            found = _is_given(flow, source, element, given, held)
        if found:
            yield element


def _is_given(flow: Flow, source: SourceFile, target: ast.expr, given: ast.expr, value: Value) -> bool:
    if value != ANY or not _is_loaded(given):
        return False
    symbol = flow.held_by(source, target)
    held = flow.env.held(symbol) if symbol is not None else None
    if symbol is None or (not isinstance(held, Nothing | State | OptState | None) and not is_params(held)):
        return False
    if not any(other is not target for other in _stores(flow, source, target, symbol)):
        return False
    return not any(sites_of(flow.value(node)) for node in subtree(given))


def _stores(flow: Flow, source: SourceFile, target: ast.expr, symbol: Symbol) -> Iterator[ast.expr]:
    """Where a name, or an attribute of a class, is given a value."""
    if isinstance(target, ast.Name):
        yield from (name for name in flow.occurrences(symbol) if isinstance(name.ctx, ast.Store))
    for node in source.by_kind.get(ast.Attribute, ()) if isinstance(target, ast.Attribute) else ():
        assert isinstance(node, ast.Attribute)
        if node.attr == target.attr and isinstance(node.ctx, ast.Store) and flow.held_by(source, node) == symbol:  # type: ignore[attr-defined]
            yield node


def _is_loaded(given: ast.expr) -> bool:
    """Does the text of a call, or of what an item or attribute is of, speak of loading?"""
    node: ast.AST = given
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    if isinstance(node, ast.Call):
        node = node.func
        said = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        return bool(_LOADING.search(said.lower()))
    return isinstance(node, ast.Name) and node is not given and bool(_LOADING.search(node.id.lower()))


def stays(flow: Flow, source: SourceFile, call: ast.Call, target: ast.expr) -> bool:
    """`params = from_bytes(params, data)` and `return restore(path, item=params)`: do the values come in place of others?

    Under another name they are a tree beside the model's own: whatever it was that was saved.
    """
    value = flow.value(target)
    held = flow.held_by(source, target)
    if held is None or not (isinstance(value, OptState | Record) or is_params(value)):
        return False
    parent = source.parents[call]
    if isinstance(parent, ast.Tuple):
        return isinstance(source.parents[parent], ast.Return)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
        return flow.held_by(source, parent.targets[0]) == held
    return isinstance(parent, ast.Return)
