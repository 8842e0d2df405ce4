"""The code that belongs to module classes, which the flow of values outside of them leaves alone."""

from __future__ import annotations

import ast

from ...plan import Plan
from ..outside import model_makers
from ..project.index import Project


def inside(project: Project, plan: Plan) -> set[ast.AST]:
    """Linen classes, and project functions that only their methods call (layers made in the caller's scope)."""
    roots: set[ast.AST] = {info.node for info in project.linen_classes.values()}
    makers = model_makers.find(project)
    called: dict[ast.AST, set[bool]] = {}
    for source in project.files.values():
        for node in source.by_kind.get(ast.Call, ()):
            assert isinstance(node, ast.Call)
            if node.func in plan.redirected:
                continue
            found = project.qualname(source, node.func)
            where = project.definition(found) if found else None
            if where is None or not isinstance(where[1], ast.FunctionDef):
                continue
            around = list(source.ancestors(node))
            within = any(parent in roots for parent in around) and makers.isdisjoint(around)
            called.setdefault(where[1], set()).add(within)
    return roots | {function for function, sides in called.items() if sides == {True}}
