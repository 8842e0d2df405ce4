"""Graph networks of jraph, which call functions and modules that they are given: these make and call layers."""

from __future__ import annotations

from pathlib import Path

import jax
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import both_sides
from .small_jraph import installed

HEAD = """from typing import Sequence
import jax
import jax.numpy as jnp
import jraph
from flax import linen as nn


class Mlp(nn.Module):
    sizes: Sequence[int]
    rate: float = 0.0
    deterministic: bool = True

    @nn.compact
    def __call__(self, x):
        for size in self.sizes:
            x = nn.relu(nn.Dense(size)(x))
            x = nn.Dropout(self.rate, deterministic=self.deterministic)(x)
        return x


"""
MODULES = """class Net(nn.Module):
    width: int = 6
    steps: int = 2
    edges: bool = True

    @nn.compact
    def __call__(self, graph):
        embed = jraph.GraphMapFeatures(embed_node_fn=nn.Dense(self.width), embed_edge_fn=nn.Dense(4))
        graph = embed(graph)
        sizes = [self.width] * 2
        for _ in range(self.steps):
            if self.edges:
                update_edges = jraph.concatenated_args(Mlp(sizes))
            else:
                update_edges = None
            update_nodes = jraph.concatenated_args(Mlp(sizes, rate=0.1))
            net = jraph.GraphNetwork(update_node_fn=update_nodes, update_edge_fn=update_edges)
            new = net(graph)
            graph = new._replace(nodes=nn.LayerNorm()(new.nodes + graph.nodes))
        return jraph.GraphMapFeatures(None, None, nn.Dense(3))(graph)
"""
# Edges come first, then what attends, then nodes and the whole: the names of the layers go by that, not by the text.
FUNCTIONS = """class Net(nn.Module):
    width: int = 6
    steps: int = 2
    edges: bool = True

    @nn.compact
    def __call__(self, graph, train=False):
        def update_nodes(nodes, sent, received, context):
            x = nn.Dense(self.width)(jnp.concatenate([nodes, received, context], -1))
            return nn.Dropout(0.5, deterministic=not train)(nn.LayerNorm()(x))

        @jraph.concatenated_args
        def update_edges(x):
            return nn.Dense(4)(x)

        net = jraph.GraphNetwork(
            update_node_fn=update_nodes,
            update_edge_fn=update_edges,
            update_global_fn=lambda n, e, g: nn.Dense(2)(jnp.concatenate([n, e], -1)),
            attention_logit_fn=lambda e, s, r, g: nn.Dense(1)(s + r),
            attention_reduce_fn=lambda e, logits: nn.Dense(3)(e) * logits,
        )
        for _ in range(self.steps):
            graph = net(graph)
        return graph
"""
MAKERS = '''def embedded(width, name):
    def embed(inputs):
        return nn.Dense(width, name=name)(inputs)

    return embed


def updated(sizes, act, train):
    """Makes a function that updates."""

    @jraph.concatenated_args
    def update(inputs):
        """Updates all.

        By layers.
        """
        x = inputs
        for size in sizes:
            x = act(nn.LayerNorm()(nn.Dense(size)(x)))
            x = nn.Dropout(0.1, deterministic=not train)(x)
        return x

    return update


def grown(width, depth):
    def update(nodes, sent, received, context):
        return Mlp([width] * depth)(jnp.concatenate([nodes, received], -1))

    return update


class Net(nn.Module):
    width: int = 6
    steps: int = 2
    edges: bool = True

    @nn.compact
    def __call__(self, graph, train=False):
        graph = jraph.GraphMapFeatures(embedded(7, "edges"), embedded(5, "nodes"))(graph)
        if self.edges:
            act = nn.relu
        else:
            act = nn.gelu
        for _ in range(self.steps):
            net = jraph.GraphNetwork(
                update_edge_fn=updated((self.width,), act=act, train=train),
                update_node_fn=grown(self.width, 2),
                update_global_fn=updated((self.width, 3), act=act, train=train),
            )
            graph = net(graph)
        return graph
'''
OF_SETUP = """class Net(nn.Module):
    width: int = 6
    steps: int = 2
    edges: bool = True

    def setup(self):
        self.nodes = Mlp([self.width])
        self.last = nn.Dense(4)

    def __call__(self, graph):
        def update_edges(edges, sent, received):
            return self.last(jnp.concatenate([edges, sent], -1))

        net = jraph.InteractionNetwork(update_edges, jraph.concatenated_args(self.nodes))
        return net(graph)
"""


@pytest.mark.parametrize(
    "name, program", [("modules", MODULES), ("functions", FUNCTIONS), ("makers", MAKERS), ("of_setup", OF_SETUP)]
)
def test_a_graph_network_calls_what_it_is_given(name: str, program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = installed(monkeypatch)
    linen, migrated = both_sides(f"graphs_{name}", HEAD + program)
    for fields in ({}, {"width": 3, "steps": 3}, {"edges": False}):
        model = linen.Net(**fields)
        variables = model.init(jax.random.key(1), graph)
        native = migrated.Net(**fields, in_example=graph, rngs=nnx.Rngs(0))
        compat.assert_equivalent(model, variables, native, graph)


def _reason(body: str, more: str = "") -> str:
    text = f"{HEAD}class Net(nn.Module):\n    wide: bool = True\n{more}\n    @nn.compact\n    def __call__(self, graph):\n"
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text + lines)])
    (net,) = [c for c in result.classes if c.qualname == "m.Net"]
    assert str(net.outcome) == "bridged"
    return net.reason


NODES = "def nodes(x, sent, received, context):\n    return nn.Dense(4)(x)\n\n"


@pytest.mark.parametrize(
    "body, why",
    [
        (f"{NODES}return graph, jraph.GraphNetwork(None, nodes)", "stands where the code is not followed"),
        (f"{NODES}return jax.vmap(jraph.GraphNetwork(None, nodes))(graph)", "stands where the code is not followed"),
        (
            f"{NODES}net = jraph.GraphNetwork(None, nodes)\nreturn jax.lax.fori_loop(0, 2, lambda i, g: net(g), graph)",
            "given to a transform",
        ),
        (
            "edges = None\nif self.wide:\n    edges = jraph.concatenated_args(lambda x: nn.Dense(4)(x))\n"
            "return jraph.GraphNetwork(edges, None)(graph)",
            "one of several functions that make modules is given to a graph network",
        ),
        (
            f"{NODES}return jraph.GraphNetwork(None, None, aggregate_edges_for_nodes_fn=nodes)(graph)",
            "modules are made in a function given to `jraph.GraphNetwork`",
        ),
        ("return jraph.GraphMapFeatures(None, nn.Dropout(0.1))(graph)", "call it in a function"),
        ("return jraph.GraphMapFeatures(None, nn.Dense)(graph)", "may make modules of it"),
    ],
)
def test_networks_that_are_not_called_as_the_text_says_stay_linen(body: str, why: str) -> None:
    assert why in _reason(body)


def test_a_network_of_setup_would_keep_the_modules_it_was_made_with() -> None:
    text = (
        f"{HEAD}class Net(nn.Module):\n    def setup(self):\n        self.nodes = Mlp([4])\n"
        "        self.net = jraph.GraphNetwork(None, jraph.concatenated_args(self.nodes))\n\n"
        "    def __call__(self, graph):\n        return self.net(graph)\n"
    )
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    (net,) = [c for c in result.classes if c.qualname == "m.Net"]
    assert str(net.outcome) == "bridged" and "is made in setup" in net.reason


OPTIONAL = """class Net(nn.Module):
    width: int = 6
    steps: int = 2
    edges: bool = True

    @nn.compact
    def __call__(self, graph):
        graph = jraph.GraphMapFeatures(None, nn.Dense(self.width))(graph)
        if self.edges:
            start = self.param("start", nn.initializers.ones, (1, graph.nodes.shape[-1]))
            out = (start * graph.nodes).sum(0)
        else:
            out = graph.nodes.sum(0)
        if graph.globals is not None:
            out = jnp.concatenate([out, graph.globals[0]])
            out = nn.LayerNorm()(out)
        return nn.Dense(3)(out)
"""


def test_a_module_is_made_where_the_example_has_an_array_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = installed(monkeypatch)
    linen, migrated = both_sides("graphs_optional", HEAD + OPTIONAL)
    for graph in (whole, whole._replace(globals=None)):
        for fields in ({}, {"edges": False}):
            model = linen.Net(**fields)
            variables = model.init(jax.random.key(1), graph)
            native = migrated.Net(**fields, in_example=graph, rngs=nnx.Rngs(0))
            compat.assert_equivalent(model, variables, native, graph)
            if graph is not whole:
                with pytest.raises(ValueError):  # Linen has no parameters for this one either
                    native(whole)


@pytest.mark.parametrize(
    "said",
    [
        "held = None if train else graph.edges",
        "held = graph.edges\nif train:\n    held = None",
        "held = pick(graph.edges, train)",
    ],
)
def test_what_a_flag_leaves_there_is_not_asked_of_an_example(said: str) -> None:
    lines = "graph = jraph.GraphMapFeatures(None, nn.Dense(4))(graph)\n" + said
    lines += "\nout = graph.nodes\nif held is None:\n    out = nn.Dense(3)(out)\nreturn nn.Dense(2)(out)"
    body = "".join(f"        {line}\n" for line in lines.splitlines())
    more = "def pick(x, flag):\n    return None if flag else x\n\n\n"
    text = f"{HEAD}{more}class Net(nn.Module):\n    @nn.compact\n    def __call__(self, graph, train=False):\n{body}"
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    (net,) = [c for c in result.classes if c.qualname == "m.Net"]
    assert str(net.outcome) == "bridged"


MAPPED = """class Inner(nn.Module):
    width: int = 6

    @nn.compact
    def __call__(self, graph, scale):
        return jraph.GraphMapFeatures(None, nn.Dense(self.width))(graph).nodes * scale


class Net(nn.Module):
    @nn.compact
    def __call__(self, graphs):
        return nn.Dense(2)(jax.vmap(Inner(4), in_axes=(0, None))(graphs, 2.0))
"""


def test_a_module_that_is_mapped_as_it_is_finds_its_sizes_by_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = installed(monkeypatch)
    graphs = jax.tree.map(lambda x: jax.numpy.stack([x, x]), graph)
    linen, migrated = both_sides("graphs_mapped", HEAD + MAPPED)
    variables = linen.Net().init(jax.random.key(1), graphs)
    native = migrated.Net(in_example=graphs, rngs=nnx.Rngs(0))
    compat.assert_equivalent(linen.Net(), variables, native, graphs)
