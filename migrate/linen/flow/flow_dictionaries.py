"""Dictionaries that are spelled out: of collections, of module classes, and with states or params under their keys."""

from __future__ import annotations

import ast
import functools
from typing import TYPE_CHECKING

from .flow_values import (
    ANY,
    NOTHING,
    ClassValue,
    Collection,
    Entries,
    Gradients,
    Items,
    Nothing,
    OptState,
    State,
    Table,
    Value,
    Variables,
    is_params,
    join,
)

if TYPE_CHECKING:
    from .flow import Flow

_COLLECTIONS = {"params", "batch_stats", "cache", "intermediates"}  # keys of variables


def of(flow: Flow, node: ast.Dict) -> Value:
    """`{'params': state.params, 'batch_stats': state.batch_stats}` are variables, as what `init` returns."""
    values = [flow.value(item) for item in node.values]
    if values and None not in node.keys and all(isinstance(value, ClassValue) for value in values):
        joined = functools.reduce(join, values)  # type: ignore[arg-type]
        return Table(joined) if isinstance(joined, ClassValue) else ANY
    sites: frozenset[ast.Call] = frozenset()
    names = set()
    for key, value in zip(node.keys, values):
        if isinstance(value, Nothing):
            return value
        if not (isinstance(key, ast.Constant) and isinstance(value, Collection) and value.name == key.value):
            return _entries(node, values)
        sites |= value.sites
        names.add(value.name)
    return Variables(sites) if "params" in names else ANY


def _entries(node: ast.Dict, values: list[Value]) -> Value:
    """`{"runner_state": (state, key), "losses": losses}`, whatever the order of its keys."""
    entries: dict[str, Value] = {}
    for key, value in zip(node.keys, values):
        if key is None and isinstance(value, Entries):  # `{**params, "critic": critic_params}`
            entries.update(zip(value.keys, value.items, strict=True))
        elif isinstance(key, ast.Constant) and isinstance(key.value, str):
            entries[key.value] = value
        else:
            return ANY
    values = list(entries.values())
    trees = all(map(_is_trained, values)) and _COLLECTIONS.isdisjoint(entries)
    if not any(map(_holds_state, values)) and not trees:
        return NOTHING if any(isinstance(value, Nothing) for value in values) else ANY
    keys = tuple(sorted(entries))
    return Entries(tuple(entries[key] for key in keys), keys)


def is_tree(value: Value) -> bool:
    """Is it params, gradients of them, or a dictionary of such: what one optimizer trains of several models?"""
    if isinstance(value, Entries):
        return all(map(is_tree, value.items))
    return isinstance(value, Gradients) or is_params(value)


def _is_trained(value: Value) -> bool:
    return isinstance(value, OptState) or is_tree(value)


def _holds_state(value: Value) -> bool:
    """Is it the state of a training loop, or a tuple with one?"""
    return any(map(_holds_state, value.items)) if isinstance(value, Items) else isinstance(value, State)
