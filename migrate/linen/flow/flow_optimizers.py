"""Gradient transformations of optax, and what their `init` and `update` give."""

from __future__ import annotations

import ast
import dataclasses
from typing import TYPE_CHECKING

from .flow_dictionaries import is_tree
from .flow_makers import maker_of
from .flow_values import (
    ANY,
    NOTHING,
    Deltas,
    Entries,
    Half,
    Items,
    Nothing,
    OptState,
    State,
    Tracked,
    Transformation,
    Value,
    Variables,
)

if TYPE_CHECKING:
    from .flow import Flow

# Parts of names of optax's functions that make something else than a transformation.
_NO_TRANSFORMATION = (
    *("schedule", "loss", "entropy", "optax.global_norm", "error", "divergence", "similarity", "distance", "tree"),
    *("Params", "State", "_update", "projection", "metrics", "safe_", "second_order", "multi_normal", "likelihood"),
    "assignment",
)


def makes_transformation(name: str | None) -> bool:
    """Does a function of that name give a gradient transformation? `optax.chain`, `optax.adamw`"""
    return name is not None and name.startswith("optax.") and not any(part in name for part in _NO_TRANSFORMATION)


# A transformation is a named tuple of its two functions.
HALVES = Items((Half("init"), Half("update")))


def of(flow: Flow, node: ast.Call, method: str) -> Value | None:
    """`tx.init(params)` and `tx.update(grads, opt_state)` of a transformation of optax, or of a state's own."""
    if method == "update" and (state := updated_state(flow, node)) is not None:
        own = OptState(state.sites, state.whole)
        return Items((_deltas(own), own))
    given = _given(flow, node, method)
    if not (isinstance(given, Nothing) or _fits(given, method)):
        return None
    assert isinstance(node.func, ast.Attribute)
    if node.func not in flow.makers:
        flow.makers[node.func] = maker_of(flow, node.func.value)
    known = isinstance(flow.value(node.func.value), Transformation) or flow.makers[node.func].startswith("optax.")
    if not known or isinstance(given, Nothing):
        return NOTHING if known else None
    return _result(given, method)


def of_half(flow: Flow, node: ast.Call, half: Half) -> Value:
    """`opt_init(params)` and `opt_update(grads, opt_state, params)`"""
    given = _given(flow, node, half.method)
    if isinstance(given, Nothing):
        return given
    return _result(given, half.method) if _fits(given, half.method) else ANY


def _given(flow: Flow, node: ast.Call, method: str) -> Value:
    return flow.value(node.args[-1 if method == "init" else 1]) if len(node.args) > (method == "update") else ANY


def _fits(given: Value, method: str) -> bool:
    return is_tree(given) if method == "init" else is_state(given)


def _result(given: Value, method: str) -> Value:
    return _state(given) if method == "init" else Items((_deltas(given), given))


def updated_state(flow: Flow, call: ast.Call) -> State | None:
    """The train state of `state.tx.update(grads, state.opt_state, state.params)`."""
    of_call = call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr == "update" else None
    given = call.args[1] if len(call.args) > 1 else None
    if not (isinstance(of_call, ast.Attribute) and of_call.attr == "tx"):
        return None
    if not (isinstance(given, ast.Attribute) and given.attr == "opt_state"):
        return None
    state, other = flow.value(of_call.value), flow.value(given.value)
    return state if isinstance(state, State) and state == other else None


def is_state(value: Value) -> bool:
    """Is it a transformation's state? That of a dictionary of trees is taken for a dictionary of states."""
    if isinstance(value, Entries):
        return all(map(is_state, value.items))
    return isinstance(value, OptState)


def is_deltas(value: Value) -> bool:
    """The same for what its `update` gives."""
    if isinstance(value, Entries):
        return all(map(is_deltas, value.items))
    return isinstance(value, Deltas)


def _state(tree: Value) -> Value:
    if isinstance(tree, Entries):
        return dataclasses.replace(tree, items=tuple(map(_state, tree.items)))
    return OptState(tree.sites, isinstance(tree, Variables)) if isinstance(tree, Tracked) else ANY


def _deltas(state: Value) -> Value:
    if isinstance(state, Entries):
        return dataclasses.replace(state, items=tuple(map(_deltas, state.items)))
    return Deltas(state.sites) if isinstance(state, OptState) else ANY
