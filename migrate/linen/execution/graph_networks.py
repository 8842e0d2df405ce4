"""Graph networks of jraph: `net = jraph.GraphNetwork(update_edge, update_node)`, then `net(graph)`.

jraph keeps no parameters: it calls the functions and modules that it is given, each once for each call of its own and in
an order that is known. What these make belongs to the module that calls the network, as if it had called them itself.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from ..lifted import mapped_modules
from ..lifted.higher_order import refuse_making
from ..modules.module_calls import Transformed, module_output
from ..values.arguments import Arguments, arguments_of
from ..values.graph_networks import CONCATENATED, Concatenated, GraphNetwork
from ..values.merging import Choice, Either, Several
from ..values.presence import through_another
from ..values.sites import Abs, AnyFactory, CallRecord, Function, Module, Unmigratable
from ..values.values import Unknown, Value
from .functions import follow

BY_NETWORKS = "called_by_networks"  # what a site renders: the calls of graph networks that call it, and where they stand

_EDGE, _NODE, _GLOBAL = "update_edge_fn", "update_node_fn", "update_global_fn"
#: Function → its first parameters, and in which order what it makes calls them, with how many arguments.
_NETWORKS: Mapping[str, tuple[tuple[str, ...], tuple[tuple[str, int], ...]]] = {
    "GraphNetwork": (
        (_EDGE, _NODE, _GLOBAL, "aggregate_edges_for_nodes_fn", "aggregate_nodes_for_globals_fn",
         "aggregate_edges_for_globals_fn", "attention_logit_fn", "attention_normalize_fn", "attention_reduce_fn"),
        ((_EDGE, 4), ("attention_logit_fn", 4), ("attention_reduce_fn", 2), (_NODE, 4), (_GLOBAL, 3)),
    ),
    "GraphNetGAT": (
        (_EDGE, _NODE, "attention_logit_fn", "attention_reduce_fn", _GLOBAL),
        ((_EDGE, 4), ("attention_logit_fn", 4), ("attention_reduce_fn", 2), (_NODE, 4), (_GLOBAL, 3)),
    ),
    "GraphMapFeatures": (
        ("embed_edge_fn", "embed_node_fn", "embed_global_fn"),
        (("embed_node_fn", 1), ("embed_edge_fn", 1), ("embed_global_fn", 1)),
    ),
    "InteractionNetwork": ((_EDGE, _NODE), ((_EDGE, 3), (_NODE, 2))),
    "RelationNetwork": ((_EDGE, _GLOBAL), ((_EDGE, 2), (_GLOBAL, 1))),
    "DeepSets": ((_NODE, _GLOBAL), ((_NODE, 2), (_GLOBAL, 1))),
    "GraphConvolution": ((_NODE,), ((_NODE, 1),)),
    "GAT": (
        ("attention_query_fn", "attention_logit_fn", "node_update_fn"),
        (("attention_query_fn", 1), ("attention_logit_fn", 3), ("node_update_fn", 1)),
    ),
}  # fmt: skip
_AROUND = Function | Module | Either | Concatenated


def made(run: Any, qualname: str, arguments: Arguments) -> Value | None:
    """What a function of jraph makes of functions and modules; None for anything else."""
    package, _, name = qualname.rpartition(".")
    if package != "jraph" or arguments.starred():
        return None
    if qualname == CONCATENATED and len(arguments.positional) == 1:
        held = arguments.positional[0][1].value
        found: Value | None = Concatenated((held,)) if isinstance(held, _AROUND) else None
    elif name in _NETWORKS:
        names, called = _NETWORKS[name]
        given = dict(zip(names, arguments.positional)) | {k: (n, a) for k, n, a in arguments.keywords if k is not None}
        if name == "InteractionNetwork" and _sends(arguments):
            called = ((_EDGE, 3), (_NODE, 3))
        for key, (_, value) in given.items():
            if isinstance(value.value, Function) and key not in dict(called):
                refuse_making(run, value.value, arguments.node.func, arguments.node)
        calls = tuple((given[key][1].value, count) for key, count in called if key in given)
        found = GraphNetwork(calls, arguments.node) if any(isinstance(v, _AROUND) for v, _ in calls) else None
    else:
        return None
    if found is not None and run.in_setup:
        what = f"`{ast.unparse(arguments.node.func)}` is given what reads variables, and is made in setup"
        raise Unmigratable("NNX184", what, arguments.node)
    return found


def _sends(arguments: Arguments) -> bool:
    """Does an InteractionNetwork give its nodes' function the messages that were sent, too?"""
    said = [n for k, n, _ in arguments.keywords if k == "include_sent_messages_in_node_update"]
    said += [n for n, _ in arguments.positional[3:4]]
    return not all(isinstance(n, ast.Constant) and n.value is False for n in said)


def call(run: Any, value: GraphNetwork | Concatenated, node: ast.Call, env: Any) -> Abs:
    """A graph network is called, or a function that concatenates what it is given."""
    flags = arguments_of(run, node, env).flags
    for held, count in value.calls if isinstance(value, GraphNetwork) else ((value, 1),):
        _call_one(run, held, count, node, env)
    return Abs(Unknown(f"the result of `{run.project.said(node.func)}`"), False, flags)


def _call_one(run: Any, value: Value, count: int, node: ast.Call, env: Any, alone: bool = True) -> None:
    """What a network calls once, with arrays of which nothing is known. `alone`: it calls no other in its stead."""
    if isinstance(value, Concatenated):
        for option in value.options:
            _call_one(run, option, 1, node, env, alone and len(value.options) == 1)
    elif isinstance(value, Either):
        for option in (*value.modules, *value.functions):
            _call_one(run, option, count, node, env, alone=False)
    elif isinstance(value, Choice):
        for option in value.options:
            _call_one(run, option, count, node, env, alone=False)
    elif isinstance(value, Module):
        _call_module(run, value, count, node, env)
    elif isinstance(value, Function):
        before = len(run.sites)
        given = Abs(Unknown("what a graph network gives a function"))
        run.called_by_networks.add(value.node)
        follow(run, value, node, env, Arguments(node, [(node, given)] * count, []))
        if len(run.sites) > before and not alone:
            what = f"one of several functions that make modules is given to a graph network, `{ast.unparse(node.func)}`"
            raise Unmigratable("NNX134", what, node)
    elif isinstance(value, AnyFactory | Several | Transformed | GraphNetwork):
        raise Unmigratable("NNX134", f"`{ast.unparse(node.func)}` calls what is not followed", node)


def _call_module(run: Any, module: Module, count: int, node: ast.Call, env: Any) -> None:
    site = module.site
    for kind in (site, *site.alternatives):
        if kind.lifted or not (kind.kind == "class" or mapped_modules.computes(run, kind, node)):
            raise Unmigratable(
                "NNX134", f"a module is given to `{ast.unparse(node.func)}` as it is; call it in a function", node
            )
    site.renders[BY_NETWORKS] = (*site.renders.get(BY_NETWORKS, ()), (node, env))
    record = CallRecord((Unknown("what a graph network gives a module"),) * count, {})
    first = site.call is None
    through_another(run, site, record)
    if first:
        site.call = record
    module_output(run, site, "__call__", record)


__all__ = ["BY_NETWORKS", "call", "made"]
