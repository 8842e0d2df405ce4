"""`jax.lax.scan` of a step over batches: `nnx.scan`, which carries the module and its optimizer.

    state, losses = jax.lax.scan(train_step, state, batches)
    →   losses = nnx.scan(train_step, in_axes=(carry, carry, 0), out_axes=0)(model, optimizer, batches)

with `nnx.StateAxes({...: nnx.Carry})` for `carry`. A carry of more than the state is left to the other forms.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...edits import Part
from ...linen.flow.flow_values import SCAN, Function, State, sites_of
from ...source import SourceFile
from .loops import same_state
from .rewrite import Unsupported

if TYPE_CHECKING:
    from .native import _Native
    from .steps import Step

_OPTIONS = {"length", "unroll", "reverse"}


def is_scan(form: _Native, node: ast.AST) -> bool:
    """Is `node` a call of `jax.lax.scan`?"""
    return isinstance(node, ast.Call) and form.flow.name(node.func) == SCAN


def carried(form: _Native, call: ast.AST, node: ast.AST) -> bool:
    """Is a state what such a call carries? It is written with its function."""
    return isinstance(call, ast.Call) and is_scan(form, call) and call.args[1:2] == [node] and _steps(form, call)


def _steps(form: _Native, call: ast.Call) -> bool:
    body = form.flow.value(call.args[0])
    return isinstance(body, Function) and all(node in form.functions for node in body.nodes)


def updates_what_it_returns(form: _Native, call: ast.Call) -> bool:
    """Does a call, or the body of a scan, update the state that it returns? That is in its place then, and not returned."""
    called = form.flow.value(call.args[0] if is_scan(form, call) and call.args else call.func)
    steps = [form.functions[node] for node in called.nodes if node in form.functions] if isinstance(called, Function) else []
    return any(step.updates and sites_of(form.flow.value(call)) for step in steps)


def write(form: _Native, step: Step, source: SourceFile, call: ast.Call) -> None:
    """The call, and what its result is assigned to."""
    body = form.flow.value(call.args[0]) if call.args else None
    names = [argument.arg for argument in step.node.args.args]
    plain = isinstance(body, Function) and body.nodes == {step.node} and not body.bound and not body.transform
    if not plain or len(names) != 2 or set(step.parameters) != {names[0]} or step.beside:
        raise Unsupported(call, "a scan of another function than a step")
    if not 2 <= len(call.args) <= 3 or not isinstance(call.args[1], ast.Name):
        raise Unsupported(call, "a scan with other arguments")
    given = {str(keyword.arg): keyword for keyword in call.keywords}
    if not given.keys() <= _OPTIONS | {"xs"} or ("xs" in given) == (len(call.args) == 3):
        raise Unsupported(call, "a scan with other arguments")
    if isinstance(step.node, ast.FunctionDef) and step.node.decorator_list:
        raise Unsupported(call, "a scan of a decorated step")
    state = call.args[1]
    symbol = form.flow.symbol(source, state)
    if not isinstance(form.flow.value(state), State):
        raise Unsupported(call, "a scan that carries something else")
    xs = call.args[2] if len(call.args) == 3 else given["xs"].value
    context = form.context(call)
    axes = f"{context.name('flax.nnx.StateAxes')}({{...: {context.name('flax.nnx.Carry')}}})"
    model, optimizer = form.new_names[symbol], form.optimizers[symbol]
    form.visible(state, symbol, model)
    form.visible(state, symbol, optimizer)
    pair = [model, optimizer] if step.renamed[names[0]][1] else [model]
    along = "None" if isinstance(xs, ast.Constant) and xs.value is None else "0"
    options: list[Part | ast.AST] = []
    for name in sorted(_OPTIONS & given.keys()):
        options += [", ", given[name]]
    head = f", in_axes=({', '.join([*[axes] * len(pair), along])}), out_axes=0"
    form.replace(call, f"{context.name('flax.nnx.scan')}(", call.args[0], head, *options, f")({', '.join(pair)}, ", xs, ")")
    _result(form, step, call, state)


def _result(form: _Native, step: Step, call: ast.Call, state: ast.Name) -> None:
    parent = form.parent(call)
    if isinstance(parent, ast.Return):
        return
    target = parent.targets[0] if isinstance(parent, ast.Assign) and len(parent.targets) == 1 else None
    if not isinstance(target, ast.Tuple) or len(target.elts) != 2 or not isinstance(target.elts[0], ast.Name):
        raise Unsupported(call, "a scan of which the result is not unpacked")
    if step.updates:
        same_state(form, target.elts[0], form.flow.symbol(form.source(state), state))
    form.remove(target, [target.elts[0]])
