"""Optimizers that tell parameters apart by their names: they need dictionaries, which only the functional form keeps.

To optax the params of an `nnx.Optimizer` are an `nnx.State`. Functions of shapes work on it as on a dictionary, functions
of paths do not: `flatten_dict` refuses it, and a path ends in the attribute `value` of the variable.
"""

from __future__ import annotations

import ast

from ...linen.flow import Flow
from ...linen.flow_values import Function
from .rewrite import Rewrite, Unsupported

_BY_PATH = frozenset(
    {
        *("flatten_dict", "unflatten_dict", "path_aware_map", "ModelParamTraversal", "get_path_str", "named_tree_map"),
        *("tree_map_with_path", "tree_flatten_with_path", "tree_leaves_with_path", "keystr"),
        *("map_with_path", "flatten_with_path", "leaves_with_path"),
        *("items", "keys", "freeze", "unfreeze", "FrozenDict"),
    }
)
# Where optax takes a tree of masks or labels, or a function that makes one: position and keyword.
_TREES = {
    "optax.masked": (1, "mask"),
    "optax.multi_transform": (1, "param_labels"),
    "optax.partition": (1, "param_labels"),
    "optax.transforms.partition": (1, "param_labels"),
    "optax.selective_transform": (1, "freeze_mask"),
}


def check(form: Rewrite) -> None:
    """Unsupported where an optimizer of the program has masks or labels that go by name, or that cannot be seen."""
    for node in form.flow.uses.calls_within("optax."):
        name = form.flow.name(node.func) or ""
        position, keyword = _TREES.get(name, (None, "mask"))
        for index, given in enumerate(node.args):
            _argument(form, given, must_be_function=index == position)
        for item in node.keywords:
            _argument(form, item.value, must_be_function=item.arg == keyword or str(item.arg).endswith("mask"))


def _argument(form: Rewrite, given: ast.expr, *, must_be_function: bool) -> None:
    if isinstance(given, ast.Constant):
        return
    functions = _functions(form.flow, given)
    if not functions and must_be_function:
        raise Unsupported(given, "an optimizer with a tree of masks")
    if any(_goes_by_path(form.flow, function, set()) for function in functions):
        raise Unsupported(given, "an optimizer that goes by the names of parameters")


def _functions(flow: Flow, node: ast.expr) -> set[ast.AST]:
    value = flow.value(node)
    return set(value.nodes) if isinstance(value, Function) else set()


def _goes_by_path(flow: Flow, function: ast.AST, seen: set[ast.AST]) -> bool:
    if function in seen:
        return False
    seen.add(function)
    for node in ast.walk(function):
        name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        if name in _BY_PATH or _asks_keys(node, function):
            return True
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            if any(_goes_by_path(flow, other, seen) for other in _functions(flow, node)):
                return True
    return False


def _asks_keys(node: ast.AST, function: ast.AST) -> bool:
    """`params['Dense_0']`, and `for name in params`."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
    if isinstance(node, ast.For | ast.comprehension) and isinstance(node.iter, ast.Name):
        arguments = function.args  # type: ignore[attr-defined]
        return node.iter.id in [a.arg for a in [*arguments.posonlyargs, *arguments.args]]
    return False
