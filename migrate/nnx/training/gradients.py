"""`jax.grad` and `jax.value_and_grad` of a loss in the NNX idiom, and what stands around them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...edits import Span
from ...linen.flow.flow_values import GRADIENTS, Function, Items
from . import aux_results
from .rewrite import JIT, Unsupported

if TYPE_CHECKING:
    from .steps import Step


def write(step: Step, call: ast.Call, name: str) -> None:
    """`jax.value_and_grad(loss_fn)` → `nnx.value_and_grad(loss_fn)`."""
    if name in JIT:
        return
    form = step.form
    found = form.flow.value(call)
    if not isinstance(found, Function) or found.argnum != step.leads or (step.leads and found.bound):
        raise Unsupported(call, "gradients with other arguments")
    _keywords(step)
    _around(step, call, found.bound)
    new = form.context(call).name(f"flax.nnx.{GRADIENTS[name]}")
    if _aux_is_updates(step) and call.keywords:
        form.replace(call, f"{new}(", call.args[0], ")")
    else:
        form.replace(call.func, new)
        if step.leads:
            _by_first(step, call)


def _by_first(step: Step, call: ast.Call) -> None:
    """The state goes, and the params are the first argument: so does `argnums=1`, but for a comment before it."""
    source = step.form.source(call)
    given = [*call.args, *call.keywords]
    said = next(k for k in given[1:] if not isinstance(k, ast.keyword) or k.arg == "argnums")
    before, span = source.span(given[given.index(said) - 1]), source.span(said)
    if "#" in source.text[before.end : span.start]:
        step.form.replace(said.value if isinstance(said, ast.keyword) else said, "0")
    else:
        step.form.replace_span(call, Span(before.end, span.end), "")


def _around(step: Step, call: ast.Call, bound: int) -> None:
    """`jax.jit(jax.value_and_grad(loss_fn))`: what the loss updates comes out of `nnx.jit`, and of no other function."""
    form = step.form
    outer = form.parent(call)
    if not isinstance(outer, ast.Call | ast.keyword) or (isinstance(outer, ast.Call) and outer.func is call):
        return
    if isinstance(outer, ast.Call) and form.flow.name(outer.func) in JIT:
        step.jit(outer, outer.func, outer.keywords, bound)
    elif step.beside or "batch_stats" in form.plan.collections:
        raise Unsupported(call, "gradients of a step that is handed to something unknown")


def _keywords(step: Step) -> None:
    """nnx gives a loss all by position: keywords of its own, or those after a partial, have none there."""
    arguments = step.node.args
    spread = set() if arguments.kwonlyargs or arguments.kwarg else {None}  # `**batch`
    placed = set() if step.node in step.form.flow.partials else {*step.names(), *spread}
    for call in step.form.flow.callers.get(step.node, {}):
        taken = step.form.flow.value(call.func)
        if isinstance(taken, Function) and taken.transform:
            if any(keyword.arg not in placed for keyword in call.keywords):
                raise Unsupported(call, "gradients of a loss that takes keywords of its own")


def _aux_is_updates(step: Step) -> bool:
    returned = step.form.flow.returns.get(step.node)
    if not isinstance(returned, Items) or len(returned.items) != 2:
        return False
    return aux_results.is_update(step.form, returned.items[1])
