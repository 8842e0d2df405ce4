"""What makes the objects of libraries that a program calls: `manager = ocp.CheckpointManager(path)`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .flow import Flow


def maker_of(flow: Flow, node: ast.AST) -> str:
    """Name of the class whose call gives an expression its value, wherever in its file the name is bound."""
    if isinstance(node, ast.Call):
        return flow.name(node.func) or ""
    wanted = ast.dump(node).replace("Store()", "Load()")
    found = set[str]()
    for other in flow.source_of[node].nodes:
        target, value = None, None
        if isinstance(other, ast.Assign) and len(other.targets) == 1:
            target, value = other.targets[0], other.value
        elif isinstance(other, ast.withitem):
            target, value = other.optional_vars, other.context_expr
        if type(target) is type(node) and ast.dump(target).replace("Store()", "Load()") == wanted:
            found.add((flow.name(value.func) or "") if isinstance(value, ast.Call) else "")
    return found.pop() if len(found) == 1 else ""
