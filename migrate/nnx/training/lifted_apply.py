"""`nn.apply(function, model)(variables, x)` → `function(model, x)`: a function of a bound module is one of a module.

The function may only call the module and its methods: of a bound module it could ask more (its scope, its variables).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linen.flow.flow_values import Function
from ...trees import subtree
from . import loops
from .rewrite import Rewrite, Unsupported

if TYPE_CHECKING:
    from .native import _Native


def find(form: Rewrite) -> Iterator[ast.Call]:
    """The calls `nn.apply(...)` of models of the component."""
    for call in form.flow.uses.calls({"flax.linen.apply"}):
        if any(form.component.holds(form.flow.value(given)) for given in call.args):
            yield call


def write(form: _Native) -> None:
    """Unsupported where one of them says more than a function, a model and inputs."""
    for lifted in find(form):
        call = form.parent(lifted)
        plain = isinstance(call, ast.Call) and call.func is lifted and not call.keywords and not lifted.keywords
        if not isinstance(call, ast.Call) or not plain or len(lifted.args) != 2 or not call.args:
            raise Unsupported(lifted, "nn.apply with keys or updates")
        if form.plan.collections - {"params"} or form.plan.sown or isinstance(call.args[0], ast.Starred):
            raise Unsupported(lifted, "nn.apply of a model that has more than params")
        function, _ = lifted.args
        _check(form, function)
        name = loops.module_of(form, call.args[0])
        inputs: list[str | ast.AST] = []
        for given in call.args[1:]:
            inputs += [", ", given]
        form.dropped.update(set(subtree(lifted)) - set(subtree(function)))
        form.dropped.update(subtree(call.args[0]))
        opening, closing = ("(", ")") if isinstance(function, ast.Lambda) else ("", "")
        form.replace(call, opening, function, f"{closing}({name}", *inputs, ")")


def _check(form: _Native, node: ast.expr) -> None:
    """Unsupported where the function does more with the module than call it, or is not followed."""
    value = form.flow.value(node)
    if not isinstance(value, Function) or len(value.nodes) != 1 or value.transform or value.bound:
        raise Unsupported(node, "nn.apply of a function that is not followed")
    (function,) = value.nodes
    arguments = function.args  # type: ignore[attr-defined]
    first = next(iter([*arguments.posonlyargs, *arguments.args]), None)
    if first is None or getattr(function, "decorator_list", None):
        raise Unsupported(node, "nn.apply of a function that is wrapped")
    source = form.source(function)
    symbol = (source.module, function, first.arg)
    for inner in subtree(function):
        if not isinstance(inner, ast.Name) or form.flow.symbol(source, inner) != symbol:
            continue
        parent = form.parent(inner)
        if isinstance(parent, ast.Attribute) and parent.attr in form.plan.methods:
            inner, parent = parent, form.parent(parent)
        if not (isinstance(parent, ast.Call) and parent.func is inner):
            raise Unsupported(inner, "nn.apply of a function that asks the module for more than its calls")
        if any(keyword.arg in (None, "rngs", "mutable", "method") for keyword in parent.keywords):
            raise Unsupported(inner, "nn.apply of a function that binds the module again")
