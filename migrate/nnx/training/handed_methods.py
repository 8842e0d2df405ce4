"""Functions that are handed `apply` beside params: the module is both, and what was handed goes.

loss, grads = jax.value_and_grad(loss_fn)(state.params, state.apply_fn, x)  →  nnx.value_and_grad(loss_fn)(model, x)
def loss_fn(params, apply_fn, x):                                           →  def loss_fn(model, x):
    return jnp.mean(apply_fn({'params': params}, x) ** 2)                   →      return jnp.mean(model(x) ** 2)
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from ...edits import Span
from ...linen.flow.flow_values import GRADIENTS, Function, Method
from ...trees import subtree
from .rewrite import Rewrite

if TYPE_CHECKING:
    from .native import _Native

_JIT = {"jax.jit", "flax.nnx.jit"}
Handed = dict[ast.FunctionDef, set[str]]  # function → the parameters that go


def find(form: _Native) -> Handed:
    """The functions of which every call is seen, and hands `apply` where nothing else than a call needs it."""
    found: Handed = {}
    for (_, scope, name), value in form.flow.uses.symbols(form.component.sites):
        if isinstance(value, Method) and value.name == "apply" and isinstance(scope, ast.FunctionDef):
            if name in required(scope):
                found.setdefault(scope, set()).add(name)
    while True:
        kept = {function: names for function, names in found.items() if _fits(form, function, names, found)}
        if len(kept) == len(found):
            break
        found = kept
    for function, names in found.items():
        for call in form.flow.callers.get(function, {}):
            for name, given in (arguments(function, call) or {}).items():
                if name in names:
                    form.dropped.update(subtree(given))
    return found


def _fits(form: _Native, function: ast.FunctionDef, names: set[str], found: Handed) -> bool:
    source = form.source(function)
    if isinstance(form.parent(function), ast.ClassDef) or form.flow.partials.get(function):
        return False
    if len(names) == len(required(function)) or not all(form.flow.name(d) in _JIT for d in function.decorator_list):
        return False
    for node, value in form.flow.uses.references(function):
        parent = form.parent(node)
        call = parent if isinstance(parent, ast.Call) else None
        graded = call is not None and call.args[:1] == [node] and form.flow.name(call.func) in GRADIENTS
        called = call is not None and call.func is node  # also `grad_fn`, after `grad_fn = jax.value_and_grad(loss_fn)`
        if value.nodes != {function} or value.bound or value.argnum or not (graded or called):
            return False
    for call in form.flow.callers.get(function, {}):
        given = arguments(function, call)
        if given is None or not names <= given.keys():
            return False
        handed = [given[name] for name in names]
        if not all(isinstance(g, ast.Name | ast.Attribute) and isinstance(form.flow.value(g), Method) for g in handed):
            return False
    for name in names:
        for node in form.flow.occurrences((source.module, function, name)):
            parent = form.parent(node)
            if isinstance(parent, ast.Call) and parent.func is node:
                continue
            holder = form.over_keyword(parent)
            callee = form.flow.value(holder.func) if isinstance(holder, ast.Call) else None
            if not isinstance(callee, Function) or not isinstance(holder, ast.Call):
                return False
            for target in callee.nodes:
                known = found.get(target, set()) if isinstance(target, ast.FunctionDef) else set()
                if not known or not any((arguments(target, holder) or {}).get(n) is node for n in known):  # type: ignore[arg-type]
                    return False
    return True


def required(function: ast.FunctionDef) -> list[str]:
    """The parameters by position that have no default."""
    plain = [*function.args.posonlyargs, *function.args.args]
    return [a.arg for a in plain[: len(plain) - len(function.args.defaults)]]


def arguments(function: ast.FunctionDef, call: ast.Call) -> dict[str, ast.expr] | None:
    """Parameter → what a call gives it."""
    names = [a.arg for a in [*function.args.posonlyargs, *function.args.args]]
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return None
    if len(call.args) > len(names) and function.args.vararg is None:
        return None
    return {**dict(zip(names, call.args, strict=False)), **{str(k.arg): k.value for k in call.keywords}}


def write(form: _Native) -> None:
    """Out of the functions, and of their calls."""
    for function, names in form.handed.items():
        plain = [*function.args.posonlyargs, *function.args.args]
        take_out(form, function, plain, [a for a in plain if a.arg in names])
        for call in form.flow.callers.get(function, {}):
            given = arguments(function, call) or {}
            take_out_values(form, call, {value for name, value in given.items() if name in names})


def take_out_values(form: Rewrite, call: ast.Call, values: Collection[ast.expr]) -> None:
    """Arguments of a call, given by position or by keyword."""
    items = [*call.args, *call.keywords]
    take_out(form, call, items, [i for i in items if i in values or getattr(i, "value", None) in values])


def take_out(form: Rewrite, near: ast.AST, items: Sequence[ast.AST], gone: Sequence[ast.AST]) -> None:
    """Items of a list go with the commas that part them from the others. One item stays at least."""
    source = form.source(near)
    first = next(i for i, item in enumerate(items) if item not in gone)
    if first:
        form.replace_span(near, Span(source.span(items[0]).start, source.span(items[first]).start), "")
    for before, item in zip(items[first:], items[first + 1 :], strict=False):
        if item in gone:
            form.replace_span(near, Span(source.span(before).end, source.span(item).end), "")


__all__ = ["Handed", "arguments", "find", "required", "take_out", "take_out_values", "write"]
