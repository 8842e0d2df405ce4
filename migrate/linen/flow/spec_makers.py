"""Trees of shardings that a program makes of its variables: `jax.tree.map(lambda x: NamedSharding(mesh, of(x)), state)`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...catalog.tree_functions import TREE_MAPS
from ...trees import subtree
from .flow_values import Function

if TYPE_CHECKING:
    from .flow import Flow

_SHARDINGS = frozenset(
    {
        *("jax.sharding.NamedSharding", "jax.sharding.PartitionSpec", "jax.sharding.SingleDeviceSharding"),
        *("jax.NamedSharding", "jax.P", "jax.experimental.PartitionSpec", "jax.experimental.pjit.PartitionSpec"),
    }
)


def makes_specs(flow: Flow, call: ast.Call) -> bool:
    """Is it a `jax.tree.map` whose function gives a sharding for every leaf?"""
    return flow.name(call.func) in TREE_MAPS and len(call.args) > 1 and _gives(flow, call.args[0], 3)


def _gives(flow: Flow, function: ast.expr, depth: int) -> bool:
    if isinstance(function, ast.Lambda):
        return _is_sharding(flow, function.body, depth)
    if isinstance(function, ast.Call) and flow.name(function.func) == "functools.partial" and function.args:
        return flow.name(function.args[0]) in _SHARDINGS or _gives(flow, function.args[0], depth)
    value = flow.value(function) if depth else None
    if not isinstance(value, Function) or value.transform:
        return False
    for node in value.nodes:
        results = [n.value for n in subtree(node) if isinstance(n, ast.Return) and flow.source_of[n].function_of(n) is node]
        if isinstance(node, ast.Lambda):
            results = [node.body]
        if not results or not all(r is not None and _is_sharding(flow, r, depth - 1) for r in results):
            return False
    return True


def _is_sharding(flow: Flow, node: ast.expr, depth: int) -> bool:
    if isinstance(node, ast.IfExp):
        return _is_sharding(flow, node.body, depth) and _is_sharding(flow, node.orelse, depth)
    if isinstance(node, ast.Call):
        return flow.name(node.func) in _SHARDINGS or _gives(flow, node.func, depth)
    return False


__all__ = ["makes_specs"]
