"""What the tests need of jraph: who calls what it is given, in jraph's order."""

from __future__ import annotations

import functools
import sys
import types
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp


class GraphsTuple(NamedTuple):
    nodes: Any
    edges: Any
    receivers: Any
    senders: Any
    globals: Any
    n_node: Any
    n_edge: Any


def _network(
    update_edge_fn: Any,
    update_node_fn: Any,
    update_global_fn: Any = None,
    attention_logit_fn: Any = None,
    attention_reduce_fn: Any = None,
) -> Any:
    def apply(graph: GraphsTuple) -> GraphsTuple:
        nodes, edges, receivers, senders, context, n_node, n_edge = graph
        count = nodes.shape[0]
        spread = None if context is None else context[jnp.zeros(senders.shape, int)]
        if update_edge_fn:
            edges = update_edge_fn(edges, nodes[senders], nodes[receivers], spread)
        if attention_logit_fn:
            edges = attention_reduce_fn(edges, attention_logit_fn(edges, nodes[senders], nodes[receivers], spread))
        if update_node_fn:
            sums = [jax.ops.segment_sum(edges, where, count) for where in (senders, receivers)]
            nodes = update_node_fn(nodes, *sums, None if context is None else context[jnp.zeros(count, int)])
        if update_global_fn:
            context = update_global_fn(nodes.sum(0, keepdims=True), edges.sum(0, keepdims=True), context)
        return GraphsTuple(nodes, edges, receivers, senders, context, n_node, n_edge)

    return apply


def _map(embed_edge_fn: Any = None, embed_node_fn: Any = None, embed_global_fn: Any = None) -> Any:
    def keep(x: Any) -> Any:
        return x

    def apply(graph: GraphsTuple) -> GraphsTuple:
        return graph._replace(
            nodes=(embed_node_fn or keep)(graph.nodes),
            edges=(embed_edge_fn or keep)(graph.edges),
            globals=(embed_global_fn or keep)(graph.globals),
        )

    return apply


def _concatenated(update: Any) -> Any:
    @functools.wraps(update)
    def wrapper(*args: Any) -> Any:
        return update(jnp.concatenate([a for a in args if a is not None], -1))

    return wrapper


def installed(monkeypatch: Any) -> GraphsTuple:
    """Has programs import this as `jraph`; gives a graph."""
    made: Any = types.ModuleType("jraph")
    made.GraphNetwork, made.GraphMapFeatures, made.GraphsTuple = _network, _map, GraphsTuple
    made.GraphNetGAT = _network
    made.concatenated_args = _concatenated
    made.InteractionNetwork = lambda update_edge_fn, update_node_fn: _network(
        lambda e, s, r, g: update_edge_fn(e, s, r), lambda n, s, r, g: update_node_fn(n, r)
    )
    monkeypatch.setitem(sys.modules, "jraph", made)
    keys = jax.random.split(jax.random.key(0), 5)
    return GraphsTuple(
        nodes=jax.random.normal(keys[0], (6, 5)),
        edges=jax.random.normal(keys[1], (9, 3)),
        receivers=jax.random.randint(keys[2], (9,), 0, 6),
        senders=jax.random.randint(keys[3], (9,), 0, 6),
        globals=jax.random.normal(keys[4], (1, 2)),
        n_node=jnp.array([6]),
        n_edge=jnp.array([9]),
    )
