"""Optimizers that tell params apart by their names, in the functional form: they are given dictionaries, as Linen has them.

    mask = path_aware_map(decays, params)               →   mask = path_aware_map(decays, linen_tree(graphdef, params))
    tx = optax.adamw(1e-3, mask=mask)
    TrainState.create(apply_fn=model.apply, params=params, tx=tx)
                                        →   nnx.TrainState.create(graphdef, params=params, tx=by_linen_keys(graphdef, tx))

The state of such an optimizer has Linen's names, too.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.flow.flow_values import OptState, State, Symbol, Variables, is_params
from ...trees import subtree
from . import linen_trees, masks
from .rewrite import Unsupported

if TYPE_CHECKING:
    from .functional import _Functional

_REASON = "an optimizer that goes by the names of parameters"
# What optax is given here are plain dictionaries, which fit no frozen ones.
_FROZEN = {f"flax.{place}.{name}" for place in ("core", "core.frozen_dict") for name in ("freeze", "FrozenDict")}


def find(form: _Functional) -> bool:
    """Is there such an optimizer? Unsupported where it is no train state's, or a tree of masks is read by others, too."""
    form.masks = set()
    if not masks.by_name(form):
        return False
    files = form.program_files()
    frozen = [call for call in form.flow.uses.calls(_FROZEN) if form.source(call).module in files]
    for found in (*frozen, *(mask for mask in form.other_masks if not _is_read_once(form, mask))):
        raise Unsupported(found, _REASON)
    for node, value in form.tracked():
        if isinstance(value, OptState) and isinstance(node, ast.Call) and not _of_state(form, node):
            raise Unsupported(node, _REASON)
    return True


def _is_read_once(form: _Functional, mask: ast.expr) -> bool:
    """Is a tree of masks made for optimizers alone? Its keys come in another order than those that `init` made."""
    if not isinstance(mask, ast.Name):
        return isinstance(mask, ast.Call | ast.Dict | ast.Constant | ast.Lambda)
    return goes_to_optimizers(form, form.flow.symbol(form.source(mask), mask))


def _of_state(form: _Functional, call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and isinstance(form.flow.value(call.func.value), State)


def write(form: _Functional) -> set[ast.AST]:
    """Make trees of masks of dictionaries; the nodes that are no trees of the form any more."""
    found: set[ast.AST] = set()
    for symbol in form.masks or ():
        stores = [name for name in form.flow.occurrences(symbol) if not isinstance(name.ctx, ast.Load)]
        statement = form.parent(stores[0]) if len(stores) == 1 else None
        if not isinstance(statement, ast.Assign) or statement.targets != stores or not goes_to_optimizers(form, symbol):
            raise Unsupported(form.component.sites[0], _REASON)
        _of_dictionaries(form, statement.value, found)
        found |= {*form.flow.occurrences(symbol)}
    for mask in form.mask_calls:
        _of_dictionaries(form, mask, found)
    return found


def _of_dictionaries(form: _Functional, made: ast.expr, found: set[ast.AST]) -> None:
    """What a tree of masks is made of; its nodes are added to `found`."""
    done: set[ast.AST] = set()
    for node in subtree(made):
        value = form.flow.value(node)
        apart = len(form.parts) > 1  # `variables["params"]` is an item of a dictionary then
        kinds = ast.Name | ast.Attribute | ast.Subscript if apart else ast.Name | ast.Attribute
        if node in done or not isinstance(node, kinds) or not form.has(value) or form.parent(node) in found:
            continue
        graphdef = linen_trees.structure_of(form, node) or linen_trees.beside_init(form, node)
        if not is_params(value) or not graphdef or (apart and isinstance(value, Variables)):
            raise Unsupported(node, _REASON)
        opening, closing = ("{'params': ", "}") if isinstance(value, Variables) else ("", "")
        form.replace(node, f"{opening}{form.context(node).parity('linen_tree')}({graphdef}, ", node, f"){closing}")
        done.update(subtree(node))
    found |= {*subtree(made)}


def goes_to_optimizers(form: _Functional, symbol: Symbol) -> bool:
    """Is a name read by nothing but calls that make optimizers?"""
    for name in form.flow.occurrences(symbol):
        holder = form.over_keyword(form.parent(name))
        known = isinstance(holder, ast.Call) and (form.flow.name(holder.func) or "").startswith("optax.")
        if isinstance(name.ctx, ast.Load) and not known:
            return False
    return True


def given(form: _Functional, call: ast.Call, keyword: ast.keyword, value: State, holder: str) -> None:
    """The optimizer of a state that is created."""
    if form.by_name:
        whole = ", whole=True" if value.whole else ""
        made = f"{form.context(call).parity('by_linen_keys')}({holder}, "
        form.replace(keyword.value, made, keyword.value, f"{whole})")
