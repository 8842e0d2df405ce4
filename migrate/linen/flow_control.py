"""Functions that JAX's control flow calls: `jax.lax.scan` and `jax.lax.cond` give them values, and give theirs on."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ..source import SourceFile
from .flow_values import ANY, NOTHING, Function, Items, Nothing, Value, join

if TYPE_CHECKING:
    from .flow import Flow


def scan(flow: Flow, source: SourceFile, node: ast.Call) -> Value:
    """`jax.lax.scan(train_step, state, batches)`: a step that takes and returns the state, or a tuple with it."""
    body = flow.value(node.args[0])
    if isinstance(body, Nothing) or not isinstance(body, Function) or body.transform or body.bound:
        return NOTHING if isinstance(body, Nothing) else ANY
    flow.bind_arguments(source, node, body, [node.args[1]])
    result = _returned(flow, body)
    if isinstance(result, Nothing):
        return result
    if not isinstance(result, Items) or len(result.items) != 2:
        return ANY
    carried = result.items[0]
    for target in body.nodes if isinstance(carried, Items) else ():  # the next step is given what this one returns
        arguments = target.args  # type: ignore[attr-defined]
        for argument in [*arguments.posonlyargs, *arguments.args][:1]:
            flow.join((flow.source_of[target].module, target, argument.arg), carried)
    return Items((carried, ANY))


def cond(flow: Flow, source: SourceFile, node: ast.Call) -> Value:
    """`jax.lax.cond(due, update, keep, state)`: what either of two functions gives."""
    operands = [*node.args[3:], *[k.value for k in node.keywords if k.arg == "operand"]]
    result: Value = NOTHING
    for branch in node.args[1:3]:
        function = flow.value(branch)
        if isinstance(function, Nothing):
            continue
        if not isinstance(function, Function) or function.transform:
            return ANY
        flow.bind_arguments(source, node, function, operands)
        result = join(result, _returned(flow, function)) or ANY
    return result


def _returned(flow: Flow, function: Function) -> Value:
    result: Value = NOTHING
    for target in function.nodes:
        result = join(result, flow.returns.get(target, NOTHING)) or ANY
    return result
