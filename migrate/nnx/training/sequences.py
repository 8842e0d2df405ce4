"""`nn.Sequential` outside of module classes, of models that are native now.

    encoder = nn.Sequential([MLP(8), nn.relu])
    encoder = linen_parity.sequential([linen_parity.Functional(MLP, 8, sizes=...), nnx.relu])

Linen's layer cannot call what is no Linen module. Where it is initialized itself, its parts have stayed Linen: see
`whole_layers`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...context import FileContext
from ...linen.flow.flow import Flow
from ...linen.flow.flow_values import ANY, sites_of
from ...trees import subtree

_SEQUENTIAL = "flax.linen.Sequential"
_GROWING = {"append", "extend", "insert"}


def write(flow: Flow, contexts: dict[str, FileContext]) -> None:
    """Have the generated `sequential` in the place of each that a native model may be a part of."""
    for call in flow.uses.calls((_SEQUENTIAL,)) if flow.native_sites else ():
        if is_written(flow, call):
            context = contexts[flow.source_of[call].module]
            context.replace(call.func, context.parity("sequential"), code="NNX603")


def is_written(flow: Flow, call: ast.Call) -> bool:
    """Is it an `nn.Sequential` of layers alone, one of which may be a native model?"""
    given = [*call.args, *(k.value for k in call.keywords if k.arg == "layers")]
    if flow.name(call.func) != _SEQUENTIAL or len(given) != 1 or len(call.args) + len(call.keywords) != 1:
        return False
    if isinstance(given[0], ast.Starred):
        return False
    return any(_is_native(flow, part) for part in _parts(flow, given[0])) or _may_be_native(flow, call, given[0])


def _parts(flow: Flow, layers: ast.expr) -> Iterator[ast.expr]:
    """The expressions that say what a list has: its display, and what its name is given or told to take in."""
    yield from (node for node in subtree(layers) if isinstance(node, ast.expr))
    if not isinstance(layers, ast.Name):
        return
    source = flow.source_of[layers]
    symbol = flow.symbol(source, layers)
    for name in flow.occurrences(symbol):
        parent = source.parents[name]
        holder: ast.AST | None = parent if isinstance(parent, ast.Assign | ast.AugAssign | ast.AnnAssign) else None
        if isinstance(parent, ast.Attribute) and parent.attr in _GROWING:
            holder = source.parents[parent]
        if holder is not None:
            yield from (node for node in subtree(holder) if isinstance(node, ast.expr) and node is not layers)


def _is_native(flow: Flow, node: ast.expr) -> bool:
    return not sites_of(flow.value(node)).isdisjoint(flow.native_sites)


def _may_be_native(flow: Flow, call: ast.Call, layers: ast.expr) -> bool:
    """Is it handed to a native class, which takes either, with layers of which nothing tells what they are?"""
    parent = flow.source_of[call].parents[call]
    holder = flow.source_of[call].parents[parent] if isinstance(parent, ast.keyword) else parent
    if not isinstance(holder, ast.Call) or holder not in flow.native_sites or call in flow.plan.templates | flow.plan.taken:
        return False
    listed = layers.elts if isinstance(layers, ast.List | ast.Tuple) else [layers]
    return any(flow.value(part) is ANY and not flow.name(_head(part)) for part in listed)


def _head(part: ast.expr) -> ast.expr:
    return part.func if isinstance(part, ast.Call) else part
