"""Variables that Linen's `init` has already updated: it runs the call, where a constructor of NNX does not."""

from __future__ import annotations

import ast
from typing import Any

from ...trees import of_kind
from ..values.sites import Variable

_CONDITIONS = (ast.If, ast.IfExp, ast.BoolOp, ast.While, ast.Match, ast.Lambda, ast.comprehension)


def updated_at_init(run: Any) -> list[tuple[str, ast.AST]]:
    """What `__call__`, or a method that it calls, updates under no condition: the variable's name, and the update."""
    call = run.model.method("__call__")
    if call is None:
        return []
    named = {node.attr for node in of_kind(call.node, ast.Attribute)}
    found: dict[str, ast.AST] = {}
    for name, method in run.model.own_methods.items():  # a base class says its own
        if name == "setup" or (name != "__call__" and name not in named):
            continue
        leaving = [node.lineno for kind in (ast.Return, ast.Raise) for node in of_kind(method.node, kind)]
        for node in of_kind(method.node, ast.Attribute):
            if node.attr != "value" or not isinstance(node.ctx, ast.Store):
                continue
            held = run.evaluated[node.value].value if node.value in run.evaluated else None
            if not isinstance(held, Variable) or held.site.kind != "variable" or held.site.name is None:
                continue
            outer = []
            for parent in run.model.source.ancestors(node):
                if parent is method.node:
                    break
                outer.append(parent)
            early = any(line < node.lineno for line in leaving)
            if not early and not any(isinstance(parent, (*_CONDITIONS, ast.FunctionDef)) for parent in outer):
                found.setdefault(str(held.site.name.constant or ast.unparse(node.value)), node)
    return list(found.items())


__all__ = ["updated_at_init"]
