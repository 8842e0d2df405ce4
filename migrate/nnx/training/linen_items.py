"""Params and gradients of single layers, in the functional form, where they are only looked at.

    print(jnp.abs(state.params["head"]["kernel"]).max())
                    →   print(jnp.abs(linen_tree(state.graphdef, state.params)["head"]["kernel"]).max())

The dictionaries are made anew, as Linen has them. What is computed of an array of theirs, or printed, is the same.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.flow.flow_values import Collection, Gradients, Tracked, Updated, Value, Variables, is_params
from . import linen_trees, trees
from .rewrite import Unsupported

if TYPE_CHECKING:
    from .functional import _Functional

_OF_ARRAYS = {
    *("shape", "ndim", "dtype", "size", "T", "sum", "mean", "std", "var", "min", "max", "reshape", "ravel", "flatten"),
    *("astype", "item", "tolist", "block_until_ready", "transpose", "squeeze"),
}
_COMPUTING = ("jax.numpy.", "numpy.")
_BUILTINS = {"float", "int", "len", "abs"}
_LEAVES = {"kernel", "bias", "scale", "embedding"}  # of Linen's layers


def write(form: _Functional, node: ast.Subscript, value: Value) -> bool:
    """Such an item, with its keys spelled out, that goes nowhere."""
    whole, inner = _whole(form, node)
    known = isinstance(value, Gradients) or (isinstance(value, Collection) and value.names == ["params"])
    if whole is node or form.annotated or not known or not isinstance(node.ctx, ast.Load) or not _is_read(form, node):
        return False
    if not isinstance(inner, ast.Name | ast.Attribute):
        return False
    graphdef = linen_trees.structure_of(form, inner) or form.structure_beside(node)
    if not graphdef:
        return False
    form.replace(whole, f"{form.context(node).parity('linen_tree')}({graphdef}, ", inner, ")")
    part: ast.expr = node
    while part is not inner:
        form.dropped.add(part)
        part = part.value  # type: ignore[attr-defined]
    form.dropped.add(part)
    return True


def computed(form: _Functional, node: ast.AST, value: Value, item: ast.Subscript) -> None:
    """The same by keys that are computed, `state.params[name]["kernel"]`; Unsupported where such an item goes elsewhere."""
    params = is_params(value) and (len(form.parts) == 1 or isinstance(value, Collection))
    if not (params or isinstance(value, Gradients)) or isinstance(form.flow.value(item), Tracked):
        return
    whole: ast.expr = item
    while isinstance(above := form.parent(whole), ast.Subscript) and above.value is whole and not _is_index(above.slice):
        whole = above
    plain = isinstance(node, ast.Name | ast.Attribute) and not (isinstance(value, Variables) and len(form.parts) == 1)
    graphdef = ""
    if plain and not form.annotated and _is_read(form, whole):
        graphdef = linen_trees.structure_of(form, node) or form.structure_beside(node)  # type: ignore[arg-type]
    if not graphdef:
        raise Unsupported(item, "an item of params by a key that is computed")
    form.replace(node, f"{form.context(node).parity('linen_tree')}({graphdef}, ", node, ")")


def _is_index(node: ast.expr) -> bool:
    """Is it one of an array, and no name?"""
    named = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return isinstance(node, ast.Constant | ast.Slice | ast.Tuple | ast.UnaryOp) and not named


def _whole(form: _Functional, node: ast.expr) -> tuple[ast.expr, ast.expr]:
    """`state.params` of `state.params["head"]["kernel"]`, and the tree that it is: `variables` for `variables["params"]`."""
    while isinstance(node, ast.Subscript) and not isinstance(form.flow.value(node.value), Variables | Updated):
        node = node.value
    if isinstance(node, ast.Subscript) and len(form.parts) == 1 and isinstance(form.flow.value(node.value), Variables):
        return node, node.value
    return node, node


def _is_read(form: _Functional, node: ast.expr) -> bool:
    """Is an item computed with, printed or asked for what arrays have?"""
    parent = form.parent(node)
    if isinstance(parent, ast.Subscript) and parent.value is node:
        return _is_index(parent.slice) and isinstance(parent.ctx, ast.Load)
    if isinstance(parent, ast.Attribute):
        return parent.attr in _OF_ARRAYS and isinstance(parent.ctx, ast.Load)
    if isinstance(parent, ast.BinOp | ast.UnaryOp):
        return True
    leaf = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value in _LEAVES
    if isinstance(parent, ast.FormattedValue):
        return leaf  # Linen's dictionaries have the order in which init made them
    if not isinstance(parent, ast.Call) or node not in parent.args:
        return False
    name = form.flow.name(parent.func) or ""
    own = parent.func.id if isinstance(parent.func, ast.Name) and not name else ""
    if own in _BUILTINS and not form.source(node).names.binders(own):
        return True
    if own == "print" and not form.source(node).names.binders(own):
        return leaf
    return name.startswith(_COMPUTING) or name in trees.REDUCTIONS
