"""Statistics under derivatives: Linen differentiates through those that a call has updated, `nnx.BatchNorm` does not.

A loss that returns them beside its value is the same in both. One that goes on with them is not: it gives them to another
call of apply, or computes its value from them. No form makes that right; where it may be so, it is said (NNX607).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...diagnostics import Severity
from ...linen.flow.flow_values import COND, SCAN, SWITCH, WRAPPERS, Collection, Function, Method, Updated
from ...trees import subtree
from .rewrite import Rewrite, Unsupported

if TYPE_CHECKING:
    from ...context import FileContext
    from ...linen.flow.flow import Flow
    from .components import Component

# What takes derivatives of what it is given, by the last word of its name: `dynamic_scale.value_and_grad(loss)` too.
_DERIVES = {
    *("grad", "value_and_grad", "vjp", "jvp", "linearize", "jacfwd", "jacrev", "jacobian", "hessian", "minimize"),
    *("value_and_grad_from_state", "custom_vjp", "custom_jvp"),
}
# Functions that call what they are given and take no derivatives of it. All others might.
_PLAIN = {
    *WRAPPERS,
    SCAN,
    COND,
    "functools.partial",
    "jax.eval_shape",
    "jax.make_jaxpr",
    "jax.lax.fori_loop",
    "jax.lax.while_loop",
    "jax.lax.map",
    SWITCH,
    "jax.tree.map",
    "jax.tree_map",
    "jax.tree_util.tree_map",
    "jax.tree.reduce",
}
_MEANS = {"jax.lax.pmean", "jax.lax.psum", "jax.lax.stop_gradient"}
_LOOPS = (ast.For, ast.While, ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp)


def report(component: Component, flow: Flow, contexts: dict[str, FileContext]) -> None:
    """NNX607 where a loop keeps its dictionaries, and a derivative may go through updated statistics."""
    if not any("batch_stats" in plan.collections for plans in component.plans for plan in plans):
        return
    form = Rewrite(component, flow, contexts)
    try:
        check(form, certain=True)
    except Unsupported as found:
        form.context(found.node).report(
            found.node,
            "NNX607",
            f"{found}: Linen takes the derivative through them, NNX's BatchNorm does not",
            severity=Severity.WARNING,
            help="Apply jax.lax.stop_gradient to the statistics in the Linen program to see whether it makes a difference.",
        )


def check(form: Rewrite, *, certain: bool = False) -> None:
    """Unsupported where a derivative may go through updated statistics. `certain`: one that is taken for certain."""
    applies = [call for call in map(form.parent, _applied(form)) if isinstance(call, ast.Call)]
    updating = {form.function(call) for call in applies if any(k.arg == "mutable" for k in call.keywords)}
    for root in _roots(form, None if certain else updating):
        inside = _reached(form, root)
        within = [call for call in applies if _around(form, call, inside)]
        if not any(k.arg == "mutable" for call in within for k in call.keywords):
            continue
        _not_used(form, inside)
        if len(within) > 1 or _repeated(form, within[0], root, inside):
            for call in within:
                _from_outside(form, call, root, inside)


def _applied(form: Rewrite) -> Iterator[ast.AST]:
    for node, value in form.tracked():
        if isinstance(value, Method) and value.name == "apply":
            yield node


def _roots(form: Rewrite, updating: set[ast.AST | None] | None) -> Iterator[ast.AST]:
    """The functions of which derivatives are taken; with `updating`, those of them too that something unknown is given."""
    return (f for name, f in form.flow.uses.handed_functions if _is_derived(name, f, updating))


def _is_derived(name: str, function: ast.AST, updating: set[ast.AST | None] | None) -> bool:
    return name.rpartition(".")[2] in _DERIVES or (updating is not None and name not in _PLAIN and function in updating)


def _reached(form: Rewrite, root: ast.AST) -> set[ast.AST]:
    """A function and all that it names, whatever it does with them."""
    found = {root}
    todo = [root]
    while todo:
        for node in subtree(todo.pop()):
            value = form.flow.value(node) if isinstance(node, ast.Name | ast.Attribute | ast.Lambda) else None
            if isinstance(value, Function):
                todo += value.nodes - found
                found |= value.nodes
    return found


def _around(form: Rewrite, node: ast.AST | None, inside: set[ast.AST]) -> bool:
    while node is not None:
        if node in inside:
            return True
        node = form.function(node)
    return False


def _not_used(form: Rewrite, inside: set[ast.AST]) -> None:
    """Updated statistics are given to nothing but the result."""
    for node, value in form.tracked():
        updated = isinstance(value, Updated) or (isinstance(value, Collection) and value.updated)
        parent = form.parent(node)
        call = form.over_keyword(parent)
        if not updated or not isinstance(call, ast.Call) or call.func is node or not _around(form, node, inside):
            continue
        if form.flow.name(call.func) not in _MEANS and not isinstance(form.flow.value(call.func), Method):
            raise Unsupported(node, "updated statistics that a loss goes on with")


def _repeated(form: Rewrite, call: ast.Call, root: ast.AST, inside: set[ast.AST]) -> bool:
    """May the one call of apply be come to more than once?"""
    node: ast.AST = call
    while True:
        function = form.function(node)
        if any(isinstance(p, _LOOPS) and _around(form, p, inside) for p in form.source(node).ancestors(node)):
            return True
        if function is None or function is root:
            return function is None
        named = [n for n, owner in _names(form, inside) if function in owner.nodes]
        if len(named) != 1:
            return True
        (node,) = named
        holder = form.parent(node)
        if not (isinstance(holder, ast.Call) and holder.func is node):
            return True


def _names(form: Rewrite, inside: set[ast.AST]) -> Iterator[tuple[ast.AST, Function]]:
    for function in inside:
        for node in subtree(function):
            if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
                value = form.flow.value(node)
                if isinstance(value, Function) and form.function(node) is function:
                    yield node, value


def _from_outside(form: Rewrite, call: ast.Call, root: ast.AST, inside: set[ast.AST]) -> None:
    """The statistics of a call are such that nothing under the derivative has given them their value."""
    variables = call.args[0]
    given = [variables]
    if isinstance(variables, ast.Dict):
        named = zip(variables.keys, variables.values)
        given = [v for k, v in named if not (isinstance(k, ast.Constant) and k.value == "params")]
    for node in given:
        base = node
        while isinstance(base, ast.Attribute | ast.Subscript):
            base = base.value
        if not isinstance(base, ast.Name) or not _is_outside(form, base, root, inside):
            raise Unsupported(call, "statistics that a loss may have updated")


def _is_outside(form: Rewrite, name: ast.Name, root: ast.AST, inside: set[ast.AST]) -> bool:
    symbol = form.flow.symbol(form.source(name), name)
    if not _around(form, symbol[1], inside):
        return True
    stored = any(not isinstance(n.ctx, ast.Load) for n in form.flow.occurrences(symbol))
    return symbol[1] is root and not stored
