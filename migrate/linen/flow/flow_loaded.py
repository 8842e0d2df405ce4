"""Params, states and states of optimizers that are loaded, under the name that they have: `params = load(path)`."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from ...source import SourceFile
from ...trees import subtree
from .flow_values import Bound, Collection, Items, Nothing, OptState, State, Tracked, Value, Variables

if TYPE_CHECKING:
    from .flow import Flow


_LOADING = re.compile(r"load|restor|resum|checkpoint|ckpt|pretrained|unflatten|unpickle")


def assigned(flow: Flow, source: SourceFile, statement: ast.Assign) -> bool:
    """Does an assignment give a name values from elsewhere, in the place of those that the program has made for it?

    `params = load_params(path)` below `params = model.init(key, x)["params"]`, and `state = restored["state"]`. That is told
    by what is said of it: any other value of one of these names is something that is not followed.
    """
    target, given = statement.targets[0], statement.value
    if len(statement.targets) != 1 or not isinstance(target, ast.Name) or not _is_loaded(given):
        return False
    held = flow.env.held(flow.symbol(source, target))
    if held is not None and not isinstance(held, Nothing | State | OptState) and not _is_params(held):
        return False
    if not any(isinstance(name.ctx, ast.Store) and name is not target for name in flow.occurrences(flow.symbol(source, target))):
        return False
    return not any(isinstance(flow.value(node), Tracked | Bound | Items) for node in subtree(given))


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


def _is_params(value: Value) -> bool:
    return isinstance(value, Variables) or (isinstance(value, Collection) and value.name == "params")


def stays(flow: Flow, source: SourceFile, call: ast.Call, target: ast.expr) -> bool:
    """`params = from_bytes(params, data)` and `return restore(path, item=params)`: do the values come in place of others?

    Under another name they are a tree beside the model's own: whatever it was that was saved.
    """
    value = flow.value(target)
    if not (isinstance(value, OptState) or _is_params(value)) or not isinstance(target, ast.Name):
        return False
    parent = source.parents[call]
    if isinstance(parent, ast.Tuple):
        return isinstance(source.parents[parent], ast.Return)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
        name = parent.targets[0]
        return isinstance(name, ast.Name) and flow.symbol(source, name) == flow.symbol(source, target)
    return isinstance(parent, ast.Return)
