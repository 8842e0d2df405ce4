"""The order of a tree's leaves: Linen's dictionaries sort `Block_10` before `Block_2`, an `nnx.State` has numbers in lists.

Sums and norms are the same either way. What goes by position (a leaf by its number, a random key for each leaf) is not.
"""

from __future__ import annotations

import ast

from ...linen.flow.flow_values import Collection, Gradients, Items, State, Tracked, Value, Variables, is_params
from ...trees import subtree
from . import leaf_functions
from .rewrite import Rewrite, Unsupported

LEAVES = {
    f"{module}{name}"
    for module, names in (
        ("jax.tree.", ("leaves", "flatten")),
        ("jax.tree_util.tree_", ("leaves", "flatten")),
        ("jax.tree_", ("leaves", "flatten")),
        ("jax.flatten_util.", ("ravel_pytree",)),
    )
    for name in names
}
# Optimizers and functions of trees that draw a random key for each leaf, or put the leaves into one vector.
_BY_POSITION = {
    "optax.noisy_sgd",
    "optax.add_noise",
    "optax.dpsgd",
    "optax.flatten",
    "optax.contrib.dpsgd",
    "optax.contrib.differentially_private_aggregate",
    "optax.differentially_private_aggregate",
    "optax.tree.random_like",
    "optax.tree.split_key_like",
    "optax.tree_utils.tree_random_like",
    "optax.tree_utils.tree_split_key_like",
}
_ARRAYS = ("jax.numpy.", "numpy.")
_OF_ALL = {"sum", "max", "min", "all", "any", "mean", "prod"}
_STACKED = {"array", "asarray", "stack", "concatenate", "hstack"}
_ORDERLESS = {"sum", "max", "min", "len", "any", "all", "set"}


def check(form: Rewrite) -> None:
    """Unsupported where something depends on the order of the leaves of params, gradients or optimizer states."""
    for node in form.flow.uses.calls(_BY_POSITION | LEAVES):
        name = form.flow.name(node.func) or ""
        if name in _BY_POSITION:
            raise Unsupported(node, "something that goes by the order of the parameters")
        if name in LEAVES and node.args and _of_component(form, node.args[0]) and not orderless(form, node):
            if _is_params(form, node.args[0]):
                continue  # they are given in Linen's dictionaries: see `trees.kept`
            raise Unsupported(node, "leaves of which the order may matter")
    for node in form.flow.uses.calls(leaf_functions.MAPS | leaf_functions.REDUCTIONS):
        if leaf_functions.by_order(form, node) and any(_of_component(form, tree) for tree in node.args[1:]):
            raise Unsupported(node, "a function of leaves that goes by the order in which it is given them")


def _is_params(form: Rewrite, node: ast.expr) -> bool:
    value = form.flow.value(node)
    named = is_params(value)
    return named and form.component.holds(value) and isinstance(node, ast.Name | ast.Attribute)


def _of_component(form: Rewrite, node: ast.expr) -> bool:
    return any(
        _holds(form, form.flow.value(inner)) or (isinstance(inner, ast.Name) and _once_held(form, inner))
        for inner in subtree(node)
    )


def _holds(form: Rewrite, value: Value) -> bool:
    if isinstance(value, Items):
        return any(_holds(form, item) for item in value.items)
    return isinstance(value, State | Variables | Collection | Gradients) and form.component.holds(value)


def _once_held(form: Rewrite, name: ast.Name) -> bool:
    """Is one of the things that a name is given a tree of the component? (It may be given other things too.)"""
    for said in form.flow.occurrences(form.flow.symbol(form.source(name), name)):
        if isinstance(said.ctx, ast.Store):
            stored = form.source(said).statement_of(said)
            if isinstance(stored, ast.Assign) and _holds(form, form.flow.value(stored.value)):
                return True
    return False


def orderless(form: Rewrite, node: ast.AST) -> bool:
    """Is a list of leaves only counted, added up or compared, wherever it is used?"""
    parent = form.parent(node)
    if isinstance(parent, ast.comprehension) and parent.iter is node:
        made = form.parent(parent)
        if not isinstance(made, ast.ListComp | ast.GeneratorExp | ast.SetComp):
            return False
        return orderless(form, made)
    if isinstance(parent, ast.Call) and node in parent.args:
        together = _together(parent)
        if together:
            return (len(together) == 1 or _like(form, together)) and orderless(form, parent)
        name = form.flow.name(parent.func) or ""
        if name.startswith(_ARRAYS) and len(parent.args) == 1 and not parent.keywords:
            last = name.rpartition(".")[2]
            return last in _OF_ALL or (last in _STACKED and orderless(form, parent))
        named = parent.func.id if isinstance(parent.func, ast.Name) else ""
        return named in _ORDERLESS or (named == "sorted" and not parent.keywords)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        same = form.flow.occurrences(form.flow.symbol(form.source(node), parent.targets[0]))
        return all(orderless(form, name) for name in same if isinstance(name.ctx, ast.Load))
    return False


def _together(call: ast.Call) -> list[ast.expr]:
    """The lists that `zip` or `map` goes through."""
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    return call.args[1:] if name == "map" else call.args if name == "zip" else []


def _like(form: Rewrite, lists: list[ast.expr]) -> bool:
    """Are all of them leaves of like trees of one model, whose order is the same, whichever that is?

    Names for lists of leaves, too, wherever else they are used: with one in Linen's order, all of them would have it.
    """
    first = _leaves_of(form, lists[0])
    if not isinstance(first, Collection | Variables | Gradients) or len(first.sites) != 1 or not form.component.holds(first):
        return False
    todo, seen = [*lists], set()
    while todo:
        node = todo.pop()
        tree = _leaves_of(form, node)
        if not isinstance(tree, Tracked) or tree.sites != first.sites or _kind(tree) != _kind(first):
            return False
        symbol = form.flow.symbol(form.source(node), node) if isinstance(node, ast.Name) else None
        if symbol is None or symbol in seen:
            continue
        seen.add(symbol)
        for read in form.flow.occurrences(symbol):
            parent = form.parent(read)
            together = _together(parent) if isinstance(parent, ast.Call) and read is not parent.func else []
            if len(together) > 1 and orderless(form, parent):
                todo += together
            elif isinstance(read.ctx, ast.Load) and (together or not orderless(form, read)):
                return False
    return True


def _kind(tree: Value | None) -> str:
    """`params` for params and gradients by them; \"\" for all variables."""
    return tree.name if isinstance(tree, Collection) else "params" if isinstance(tree, Gradients) else ""


def _leaves_of(form: Rewrite, node: ast.expr) -> Value | None:
    """The tree of which an expression, or the one that a name is given, has the leaves."""
    if isinstance(node, ast.Name):
        stores = [
            n for n in form.flow.occurrences(form.flow.symbol(form.source(node), node)) if isinstance(n.ctx, ast.Store)
        ]
        statement = form.parent(stores[0]) if len(stores) == 1 else None
        if not isinstance(statement, ast.Assign) or statement.targets != stores:
            return None
        node = statement.value
    leaves = isinstance(node, ast.Call) and (form.flow.name(node.func) or "").endswith("leaves") and len(node.args) == 1
    return form.flow.value(node.args[0]) if leaves else None  # type: ignore[attr-defined]
