"""States that `pmap` keeps on each device, apart from each other: no single module stands for them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.flow_values import Function, Value
from .rewrite import Unsupported

if TYPE_CHECKING:
    from .native import _Native

_COPIES = {"jax.pmap", "flax.jax_utils.replicate"}


def check(form: _Native) -> None:
    """`pmap` keeps a copy of the state on each device, and lets them differ in statistics and keys."""
    for node in form.flow.source_of:
        if isinstance(node, ast.Call) and node.args and form.flow.name(node.func) in _COPIES:
            if _takes_values(form, form.flow.value(node.args[0])):
                raise Unsupported(node, "jax.pmap keeps a copy of the state on each device")
        elif isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                names = {form.flow.name(n) for n in ast.walk(decorator) if isinstance(n, ast.Name | ast.Attribute)}
                if names & _COPIES and _takes_values(form, Function(frozenset([node]))):
                    raise Unsupported(decorator, "jax.pmap keeps a copy of the state on each device")


def _takes_values(form: _Native, value: Value) -> bool:
    if not isinstance(value, Function):
        return form.component.holds(value)
    return any(form.component.holds(held) and scope in value.nodes for (_, scope, _), held in form.flow.env.items() if scope)
