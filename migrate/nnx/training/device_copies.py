"""States that `pmap` keeps on each device, apart from each other: no single module stands for them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...context import FileContext
from ...linen.flow.flow import Flow
from ...linen.flow.flow_values import Function, Value
from ...trees import subtree
from .components import Component
from .rewrite import Rewrite, Unsupported

_PMAP = "jax.pmap"
_COPIES = {_PMAP, "flax.jax_utils.replicate", "jax.device_put_replicated"}
_BY_HAND = (
    "It is right as it is: `jax.pmap` is `jax.jit` of `jax.shard_map` today. By hand it is that over split state, with P() "
    "for what all devices have alike and check_vma=False; `nnx-migrate explain NNX608` has the form."
)


def check(form: Rewrite) -> None:
    """`pmap` keeps a copy of the state on each device, and lets them differ in statistics and keys."""
    for node, _ in _copied(form):
        raise Unsupported(node, "jax.pmap keeps a copy of the state on each device")


def report(component: Component, flow: Flow, contexts: dict[str, FileContext]) -> None:
    """NNX608: what each device has of its own, where `pmap` stays."""
    form = Rewrite(component, flow, contexts)
    for node, name in _copied(form):
        if name == _PMAP:
            form.context(node).report(node, "NNX608", f"jax.pmap stays: {_of_each_device(form)}", help=_BY_HAND)


def _of_each_device(form: Rewrite) -> str:
    """Why one module cannot stand for what the devices have."""
    plans = [plan for plans in form.component.plans for plan in plans]
    classes = [info.source.text_of(info.node) for info in form.flow.project.linen_classes.values()]
    found = []
    if any("batch_stats" in plan.collections for plan in plans):
        synced = any("axis_name" in text for text in classes)
        found.append(f"batch statistics {'of all devices (axis_name)' if synced else 'of its own batches alone'}")
    if any(plan.rng_streams or plan.unnamed_streams for plan in plans):
        found.append("random keys of its own")
    if not found:
        return "each device has a copy of the params, and they are alike only as the program sees to it (pmean)"
    return f"each device has {' and '.join(found)}, which one module under a global jit would not have"


def _copied(form: Rewrite) -> Iterator[tuple[ast.AST, str]]:
    """The calls and decorators that give each device a copy of what the component's models have."""
    for call in form.flow.uses.calls(_COPIES):
        if call.args and _takes_values(form, form.flow.value(call.args[0])):
            yield call, form.flow.name(call.func) or ""
    for function in form.flow.uses.decorated:
        for decorator in function.decorator_list:
            names = {form.flow.name(n) for n in subtree(decorator) if isinstance(n, ast.Name | ast.Attribute)}
            if names & _COPIES and _takes_values(form, Function(frozenset([function]))):
                yield decorator, _PMAP


def _takes_values(form: Rewrite, value: Value) -> bool:
    if not isinstance(value, Function):
        return form.component.holds(value)
    held = form.flow.uses.symbols(form.component.sites)
    return any(scope in value.nodes and form.component.holds(known) for (_, scope, _), known in held if scope)
