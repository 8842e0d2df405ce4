"""The state of an optimizer where its trees are looked at by the names of parameters: `state.opt_state[0].mu["head"]`.

On split state these trees are states of nnx, in which layers of lists have other names than in Linen.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.flow.flow_values import Symbol
from . import loaded, trees
from .rewrite import Rewrite, Unsupported

if TYPE_CHECKING:
    from .passed_trees import PassedTrees

# Dictionaries of optax with names of its own, or of the program.
_LEAF_BY_LEAF = ("jax.tree", "optax.", "jax.lax.p", "jax.device_")
# Trees like the params that optimizers of optax keep.
_TREES = {
    *("mu", "nu", "trace", "ema", "acc_grads", "sum_of_squares", "v", "v_row", "v_col", "e_g", "e_x", "z"),
    "grad_momentum",
}
_NAMED = {"hyperparams", "hyperparams_states", "inner_states"}


def check(form: PassedTrees, node: ast.expr, seen: frozenset[Symbol] = frozenset()) -> None:
    """Unsupported where an optimizer's state, or an item of it, goes by the names of parameters, here or in a function."""
    whole: ast.expr = node
    parent = form.parent(whole)
    while isinstance(parent, ast.Attribute | ast.Subscript) and parent.value is whole:
        named = isinstance(whole, ast.Attribute) and whole.attr in _NAMED
        if isinstance(parent, ast.Subscript) and not named and not _is_number(parent.slice):
            raise Unsupported(parent, "an item of the optimizer's state by its name")
        whole, parent = parent, form.parent(parent)
    call = form.over_keyword(parent)
    target = parent.targets[0] if isinstance(parent, ast.Assign) and len(parent.targets) == 1 else None
    if isinstance(target, ast.Name):  # `adam = state.opt_state[0]`
        _check_all(form, form.flow.symbol(form.source(target), target), seen)
    if isinstance(call, ast.Call) and call.func is not whole:
        if trees.looks(form, call) or "path" in (form.flow.name(call.func) or ""):
            raise Unsupported(call, "the optimizer's state by its names")
        if (form.flow.name(call.func) or "").startswith(_LEAF_BY_LEAF):
            check(form, call, seen)  # what is made of it leaf by leaf is a tree like it
        for symbol in form.receivers(whole):
            _check_all(form, symbol, seen)


def _check_all(form: PassedTrees, symbol: Symbol, seen: frozenset[Symbol]) -> None:
    """The same of all that is read under a name."""
    for name in form.flow.occurrences(symbol) if symbol not in seen else ():
        if isinstance(name.ctx, ast.Load):
            check(form, name, seen | {symbol})


def is_tree(form: Rewrite, node: ast.AST) -> bool:
    """`state.opt_state[0].mu`: a tree like the params that an optimizer keeps?"""
    if not isinstance(node, ast.Attribute) or node.attr not in _TREES:
        return False
    whole: ast.AST = node
    while isinstance(whole, ast.Attribute | ast.Subscript) and not loaded.is_slots(form, whole):
        whole = whole.value
    return loaded.is_slots(form, whole)


def _is_number(index: ast.expr) -> bool:
    index = index.operand if isinstance(index, ast.UnaryOp) else index
    return isinstance(index, ast.Slice) or (isinstance(index, ast.Constant) and isinstance(index.value, int))
