"""Functions that are compiled ahead of time: `train.lower(keys).compile()` is called as `train` is."""

from __future__ import annotations

import ast

from ..project.index import Project
from .flow_values import Function, Value

STEPS = ("lower", "compile")
_STATIC = {"static_argnums", "static_argnames"}


def function_of(project: Project, call: ast.Call, base: Value) -> Function | None:
    """The function that one of these calls hands on, with all its arguments: static ones would be left out later."""
    function = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if function not in STEPS or not isinstance(base, Function) or project.says(*_STATIC):
        return None
    return base
