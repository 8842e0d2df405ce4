"""Gradient transformations of optax, and what their `init` and `update` give."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from .flow_makers import maker_of
from .flow_values import (
    ANY,
    NOTHING,
    Collection,
    Deltas,
    Items,
    Nothing,
    OptState,
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


def of(flow: Flow, node: ast.Call, method: str) -> Value | None:
    """`tx.init(params)` and `tx.update(grads, opt_state)` of a transformation of optax."""
    given = flow.value(node.args[-1 if method == "init" else 1]) if len(node.args) > (method == "update") else ANY
    of_params = isinstance(given, Variables) or (isinstance(given, Collection) and given.name == "params")
    if not (isinstance(given, Nothing) or (of_params if method == "init" else isinstance(given, OptState))):
        return None
    assert isinstance(node.func, ast.Attribute)
    if node.func not in flow.makers:
        flow.makers[node.func] = maker_of(flow, node.func.value)
    known = isinstance(flow.value(node.func.value), Transformation) or flow.makers[node.func].startswith("optax.")
    if not known:
        return None
    if isinstance(given, OptState):
        return Items((Deltas(given.sites), given))
    if isinstance(given, Tracked):
        return OptState(given.sites, isinstance(given, Variables))
    return NOTHING
