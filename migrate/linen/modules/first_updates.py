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
            asked = [parent for parent in outer if _is_there(run, parent, held)]
            held_back = (p for p in outer if p not in asked and isinstance(p, (*_CONDITIONS, ast.FunctionDef)))
            if not early and not any(held_back):
                found.setdefault(str(held.site.name.constant or ast.unparse(node.value)), node)
    return list(found.items())


def _is_there(run: Any, node: ast.AST, held: Variable) -> bool:
    """`if self.has_variable("ema", "mean")` of a variable that is made before: in `init`, too, it is there."""
    test = node.test if isinstance(node, ast.If) else None
    if not isinstance(test, ast.Call) or run.constants.get(test) != "True":
        return False
    return ast.unparse(test.func) == "self.has_variable" and (held.site.in_setup or held.site.node.lineno < test.lineno)


__all__ = ["updated_at_init"]
