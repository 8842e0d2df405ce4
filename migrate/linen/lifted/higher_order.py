"""Higher-order functions: jax transforms, `jax.lax` control flow, functions given to unknown code."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from ...trees import subtree
from ..lists.size_lists import SizeList, last_item
from ..modules.module_calls import invoke
from ..shapes import shapes
from ..values.apart import run_apart
from ..values.arguments import Arguments, function_env, parameters_of
from ..values.mapped_axes import drop_axis, scan_carry, stacked, traced
from ..values.sites import Abs, Function, Repeated, Unmigratable
from ..values.values import Const, Global, Tup, Unknown, Value

TRANSPARENT = frozenset(
    {"jax.jit", "jax.checkpoint", "jax.remat", "jax.named_call", "jax.named_scope", "jax.profiler.annotate_function"}
)


DERIVATIVES = frozenset(f"jax.{name}" for name in ("grad", "value_and_grad", "jacfwd", "jacrev", "jacobian", "hessian"))
LINEARIZED = frozenset({"jax.vjp", "jax.jvp", "jax.linearize"})


def makes_function(qualname: str) -> bool:
    """Does the library function give a function back (jit, vmap, grad), or what it gives with one?"""
    return qualname in TRANSPARENT or qualname in DERIVATIVES | LINEARIZED or qualname == "jax.vmap"


def uses_modules(function: Function) -> bool:
    """Does the function call anything, so that modules may be used in it?"""
    return any(isinstance(n, ast.Call) for n in subtree(function.node))


def run_functions(run: Any, arguments: Arguments) -> None:
    """Functions handed to unknown code: what they make must be known, so making modules in them is refused."""
    for _, found in [*arguments.positional, *[(n, a) for _, n, a in arguments.keywords]]:
        if isinstance(found.value, Function):
            refuse_making(run, found.value, arguments.node.func, arguments.node)


def refuse_making(run: Any, function: Function, taker: ast.expr, node: ast.AST) -> None:
    """Refuse a function that makes modules, of which it is not known how `taker`, which is given it, calls it."""
    if function.method is not None or function.env is None:
        return
    before = len(run.sites)
    env = function_env(run, function, {p: Abs(Unknown("argument")) for p in parameters_of(function.node)})
    run_apart(run, function.node, env)
    if len(run.sites) > before:
        raise Unmigratable("NNX134", f"modules are made in a function given to `{ast.unparse(taker)}`", node)


def _higher_checkpoint(run: Any, arguments: Arguments, env: Any) -> Abs:
    return arguments.positional[0][1] if arguments.positional else Abs(Unknown("checkpoint"))


def _higher_scan(run: Any, arguments: Arguments, env: Any) -> Abs:
    values = [a for _, a in arguments.positional]
    keywords = {k: a for k, _, a in arguments.keywords}
    function = values[0] if values else keywords.get("f")
    init = values[1] if len(values) > 1 else keywords.get("init")
    xs = values[2] if len(values) > 2 else keywords.get("xs")
    if function is None or init is None:
        return Abs(Unknown("scan"))
    element = drop_axis(xs.value, 0) if xs is not None else Const(None)
    carry = traced(init.value)
    result = invoke(run, function, [carry, element])
    if isinstance(result, Tup) and len(result.items) == 2:
        return Abs(Tup((scan_carry(carry, result.items[0]), stacked(result.items[1]))), False, arguments.flags)
    return Abs(Unknown("scan"), False, arguments.flags)


def _higher_cond(run: Any, arguments: Arguments, env: Any) -> Abs:
    values = [a for _, a in arguments.positional]
    if len(values) < 3:
        return Abs(Unknown("cond"), False, arguments.flags)
    operands = [traced(a.value) for a in values[3:]]
    results = [Abs(invoke(run, f, operands)) for f in values[1:3]]
    merged: Abs = run.merge_values(results)
    return Abs(traced(merged.value), False, arguments.flags)


def _higher_fori(run: Any, arguments: Arguments, env: Any) -> Abs:
    values = [a for _, a in arguments.positional]
    if len(values) < 4:
        return Abs(Unknown("fori_loop"), False, arguments.flags)
    carry = traced(values[3].value)
    invoke(run, values[2], [Unknown("i"), carry])
    return Abs(carry, False, arguments.flags)


def _higher_while(run: Any, arguments: Arguments, env: Any) -> Abs:
    values = [a for _, a in arguments.positional]
    if len(values) < 3:
        return Abs(Unknown("while_loop"), False, arguments.flags)
    carry = traced(values[2].value)
    invoke(run, values[0], [carry])
    invoke(run, values[1], [carry])
    return Abs(carry, False, arguments.flags)


def _higher_map(run: Any, arguments: Arguments, env: Any) -> Abs:
    values = [a for _, a in arguments.positional]
    if len(values) >= 2:
        return Abs(stacked(invoke(run, values[0], [drop_axis(values[1].value, 0)])), False, arguments.flags)
    return Abs(Unknown("map"), False, arguments.flags)


def _higher_reduce(run: Any, arguments: Arguments, env: Any) -> Abs:
    """functools.reduce over arrays of a known number, or of one shape, or of what leaves the shape as it is."""
    values = [a for _, a in arguments.positional]
    sequence = values[1].value if len(values) > 1 else None
    items: list[Value] = [v.value for v in values[2:3]]
    if isinstance(sequence, Tup):
        items += sequence.items
    elif isinstance(sequence, SizeList):
        items += [last_item(run, sequence)] * 2
    elif isinstance(sequence, Repeated):
        items += [sequence.element] * 2
    total = items[0] if items else Unknown("reduce")
    for item in items[1:]:
        if isinstance(values[0].value, Global):
            total = shapes.call(values[0].value.name, [run.plain(total), run.plain(item)], {})
        else:
            total = invoke(run, values[0], [total, item])
    if not isinstance(sequence, Tup | SizeList | Repeated) and len(values) > 1:  # of anything
        start = items[0] if items else Unknown("reduce")
        total = invoke(run, values[0], [start, Unknown("an item")])
        if total != start or not items:
            total = Unknown("reduce")
    if isinstance(sequence, SizeList | Repeated):  # as many times as there are items, and that is not known
        first = items[0] if values[2:3] and _may_be_empty(arguments.positional[1][0]) else total
        if total != items[-1] or total != first:
            total = Unknown("reduce")
    if isinstance(total, Unknown):
        return run._static_text(arguments.node, arguments.static, arguments.flags, env)  # type: ignore[no-any-return]
    return Abs(total, arguments.static, arguments.flags)


def _may_be_empty(listed: ast.expr | None) -> bool:
    """A list from elsewhere, or of the items that meet a condition."""
    return not isinstance(listed, ast.ListComp | ast.GeneratorExp) or any(g.ifs for g in listed.generators)


HIGHER_ORDER: Mapping[str, Callable[[Any, Arguments, Any], Abs]] = {
    "jax.checkpoint": _higher_checkpoint,
    "jax.remat": _higher_checkpoint,
    "jax.jit": _higher_checkpoint,
    "jax.lax.scan": _higher_scan,
    "jax.lax.cond": _higher_cond,
    "jax.lax.fori_loop": _higher_fori,
    "jax.lax.while_loop": _higher_while,
    "jax.lax.map": _higher_map,
    "functools.reduce": _higher_reduce,
}
