"""The state of an optimizer where its trees are looked at by the names of parameters: `state.opt_state[0].mu["head"]`.

On split state these trees are states of nnx, in which layers of lists have other names than in Linen.
"""

from __future__ import annotations

import ast

from . import trees
from .rewrite import Rewrite, Unsupported

# Dictionaries of optax with names of its own, or of the program.
_NAMED = {"hyperparams", "hyperparams_states", "inner_states"}


def check(form: Rewrite, node: ast.Attribute) -> None:
    """Unsupported where an optimizer's state, or an item of it, goes by the names of parameters."""
    whole: ast.AST = node
    parent = form.parent(whole)
    while isinstance(parent, ast.Attribute | ast.Subscript) and parent.value is whole:
        named = isinstance(whole, ast.Attribute) and whole.attr in _NAMED
        if isinstance(parent, ast.Subscript) and not named and not _is_number(parent.slice):
            raise Unsupported(parent, "an item of the optimizer's state by its name")
        whole, parent = parent, form.parent(parent)
    call = form.over_keyword(parent)
    if isinstance(call, ast.Call) and call.func is not whole:
        if trees.looks(form, call) or "path" in (form.flow.name(call.func) or ""):
            raise Unsupported(call, "the optimizer's state by its names")


def _is_number(index: ast.expr) -> bool:
    index = index.operand if isinstance(index, ast.UnaryOp) else index
    return isinstance(index, ast.Slice) or (isinstance(index, ast.Constant) and isinstance(index.value, int))
