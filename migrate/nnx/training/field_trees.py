"""Fields of a state that hold trees of params: averages, targets, sums of gradients.

In the NNX idiom they are pure states, leaf by leaf what Linen's dictionaries were, by name and by order not: who looks at
one by names is given dictionaries as Linen has them.

    flatten_dict(state.ema)                 →    flatten_dict(linen_nested(model, optimizer.ema))
    optax.global_norm(state.ema["head"])    →    optax.global_norm(linen_nested(model, optimizer.ema)["head"])
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linen.flow.flow_values import Collection, Gradients, State, Tracked, Value, Variables, is_params
from . import state_fields, trees
from .rewrite import Unsupported

if TYPE_CHECKING:
    from .native import _Native

_LEAF_BY_LEAF = ("jax.tree", "jax.device_", "jax.lax.p", "jax.block_until_ready", "optax.", "flax.jax_utils.")
_FOLLOWED = (ast.Call, ast.keyword, ast.Dict, ast.Assign, ast.AnnAssign, ast.Return, ast.Lambda, ast.Expr)


def find(form: _Native) -> tuple[frozenset[str], frozenset[str]]:
    """The fields that are given params, or gradients, or what is made of them leaf by leaf.

    Also those of them that are given all that init returned, of which params stand for `{"params": params}`. Unsupported
    where there are statistics among it.
    """
    given = list(_given(form))
    whole = [keyword for keyword, value in given if isinstance(value, Variables)]
    if whole and form.plan.collections - {"params"}:
        raise Unsupported(whole[0].value, "a field with statistics beside params")
    return frozenset(str(keyword.arg) for keyword, _ in given), frozenset(str(keyword.arg) for keyword in whole)


def _given(form: _Native) -> Iterator[tuple[ast.keyword, Value]]:
    """The arguments that give such fields something, `create(ema_params=params)`, and what."""
    for node, value in form.uses:
        keyword = form.parent(node)
        if not (isinstance(value, Gradients) or is_params(value)):
            continue
        if isinstance(keyword, ast.keyword) and keyword.arg in form.fields:
            if isinstance(form.flow.value(form.parent(keyword)), State):
                yield keyword, value


def use(form: _Native, node: ast.AST, value: Value) -> bool:
    """Is a use of such a field written here? Unsupported where its names or its order may count, unseen."""
    if not (isinstance(value, Collection) and value.name in form.tree_fields) or form.leads_on(node):
        return False
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        return False
    whole = node
    while isinstance(whole, ast.Subscript):
        whole = whole.value
    parent = form.parent(node)
    holder = form.over_keyword(parent)
    if isinstance(holder, ast.Call) and node is not holder.func:
        name = form.flow.name(holder.func) or ""
        looked_at = trees.looks(form, holder) or (trees.of_library(form, holder) and not name.startswith("jax.tree"))
        part = whole is not node and (name in trees.REDUCTIONS or (trees.made(form, holder) and len(holder.args) == 2))
        if looked_at or part:
            _as_in_linen(form, whole)
            return True
        if whole is node and name.startswith(_LEAF_BY_LEAF) and "path" not in name:
            return False
    elif isinstance(parent, ast.FormattedValue) or (isinstance(parent, ast.Dict) and _is_kept(form, parent)):
        _as_in_linen(form, whole)
        return True
    elif isinstance(parent, ast.Attribute | ast.Subscript | ast.For | ast.comprehension | ast.Compare | ast.Starred):
        raise Unsupported(node, "a tree in a field of the state that is taken apart")
    if whole is not node:
        raise Unsupported(node, "a part of a tree in a field of the state")
    form.check_landing(node)
    in_tuple = isinstance(parent, ast.Tuple)
    while isinstance(parent, ast.Tuple):
        parent = form.parent(parent)
    if not isinstance(parent, _FOLLOWED) or (in_tuple and isinstance(parent, ast.Call | ast.keyword | ast.Dict)):
        raise Unsupported(node, "a tree in a field of the state that goes where it is not followed")
    return False


def _is_kept(form: _Native, dictionary: ast.Dict) -> bool:
    """Is a dictionary no variables of a call of apply, and none that the flow of values takes for variables?"""
    return not form.in_apply(dictionary) and not isinstance(form.flow.value(dictionary), Tracked)


def _as_in_linen(form: _Native, whole: ast.AST) -> None:
    """The field as dictionaries with Linen's names."""
    if not isinstance(whole, ast.Attribute) or not isinstance(whole.value, ast.Name):
        raise Unsupported(whole, "a tree of a field of the state under another name, by its names")
    if whole.attr in form.whole_fields:
        raise Unsupported(whole, "a field with all that init returned, by its names")
    held = state_fields.attribute(form, whole.value, whole.attr)
    nested = form.context(whole).parity("linen_nested")
    form.replace(whole, f"{nested}({form.model_of(whole.value)}, {held})")
    form.dropped.add(whole)
