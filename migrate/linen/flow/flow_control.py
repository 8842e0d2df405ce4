"""Functions that JAX's control flow calls: `jax.lax.scan`, `cond` and loops give them values, and give theirs on."""

from __future__ import annotations

import ast
import dataclasses
from typing import TYPE_CHECKING

from ...source import SourceFile
from .flow_values import ANY, NOTHING, SWITCH, Entries, Function, Items, Nothing, Tracked, Value, is_sequence, join

if TYPE_CHECKING:
    from .flow import Flow


def start(node: ast.Call) -> ast.expr | None:
    """What a scan begins with: `scan(step, state, xs)`, `scan(step, init=state, xs=xs)`."""
    named = [keyword.value for keyword in node.keywords if keyword.arg == "init"]
    return next(iter([*node.args[1:2], *named]), None) if node.args else None


def scan(flow: Flow, source: SourceFile, node: ast.Call) -> Value:
    """`jax.lax.scan(train_step, state, batches)`: a step that takes and returns the state, or a tuple with it."""
    body = flow.value(node.args[0])
    if isinstance(body, Nothing) or not isinstance(body, Function) or body.transform or body.bound:
        return NOTHING if isinstance(body, Nothing) else ANY
    begun = start(node)
    flow.bind_arguments(source, node, body, [begun] if begun is not None else [])
    result = _returned(flow, body)
    if isinstance(result, Nothing):
        return result
    if not isinstance(result, Items) or not is_sequence(result, 2):
        return ANY
    carried = result.items[0]
    for target in body.nodes if isinstance(carried, Items) else ():  # the next step is given what this one returns
        arguments = target.args  # type: ignore[attr-defined]
        for argument in [*arguments.posonlyargs, *arguments.args][:1]:
            flow.join((flow.source_of[target].module, target, argument.arg), carried)
    return Items((carried, ANY))


def cond(flow: Flow, source: SourceFile, node: ast.Call) -> Value:
    """`jax.lax.cond(due, update, keep, state)`, `jax.lax.switch(kind, [update, keep], state)`: what any function gives."""
    functions = branches(flow, node)
    if functions is None:
        return ANY
    first = 2 if flow.name(node.func) == SWITCH else 3
    operands = [*node.args[first:], *[k.value for k in node.keywords if k.arg == "operand"]]
    result: Value = NOTHING
    for function in functions:
        if isinstance(function, Nothing):
            continue
        flow.bind_arguments(source, node, function, operands)
        result = join(result, _returned(flow, function)) or ANY
    return result


def branches(flow: Flow, node: ast.Call) -> list[Function | Nothing] | None:
    """The functions of which a `cond` or `switch` calls one; None where one of them is not known."""
    listed = flow.value(node.args[1]) if len(node.args) > 1 else ANY
    if flow.name(node.func) != SWITCH:
        values = [flow.value(branch) for branch in node.args[1:3]]
    elif isinstance(listed, Items | Nothing):
        values = list(listed.items) if isinstance(listed, Items) else [listed]
    else:
        return None
    known = [v for v in values if isinstance(v, Nothing) or (isinstance(v, Function) and not v.transform)]
    return known if len(known) == len(values) else None


def loop(flow: Flow, source: SourceFile, node: ast.Call) -> Value:
    """`jax.lax.fori_loop(0, n, body, state)` and `jax.lax.while_loop(due, body, state)`: what the body returns."""
    start = node.args[-1]
    carried = flow.value(start)
    if not isinstance(carried, Tracked | Items):
        return carried if isinstance(carried, Nothing) else ANY
    function = flow.value(node.args[-2])
    if isinstance(function, Nothing):
        return NOTHING
    if not isinstance(function, Function) or function.transform or function.bound:
        return ANY
    due = flow.value(node.args[0])
    if isinstance(due, Function) and len(node.args) == 3 and not (due.transform or due.bound):
        flow.bind_arguments(source, node, due, [start])
    counted = dataclasses.replace(function, bound=len(node.args) - 3)  # the number of the turn comes first
    flow.bind_arguments(source, node, counted, [start])
    result = _returned(flow, function)
    for target in function.nodes:  # the next turn is given what this one returns
        arguments = target.args  # type: ignore[attr-defined]
        names = [a.arg for a in [*arguments.posonlyargs, *arguments.args]]
        for name in names[counted.bound : counted.bound + 1]:
            flow.join((flow.source_of[target].module, target, name), result)
    return result


def _returned(flow: Flow, function: Function) -> Value:
    result: Value = NOTHING
    for target in function.nodes:
        result = join(result, flow.returns.get(target, NOTHING)) or ANY
    return result


def listed(flow: Flow, node: ast.Tuple | ast.List) -> Value:
    """`loss, *aux`: the items of a tuple or list; ANY where one is unpacked of which they are not known."""
    items: list[Value] = []
    for element in node.elts:
        if not isinstance(element, ast.Starred):
            items.append(flow.value(element))
            continue
        unpacked = flow.value(element.value)
        if isinstance(unpacked, Nothing):
            return unpacked
        if not isinstance(unpacked, Items) or isinstance(unpacked, Entries):
            return ANY
        items += unpacked.items
    return Items(tuple(items))
