"""Is a module called whenever its class is, with defaults: may the class find the module's sizes so?"""

from __future__ import annotations

import ast
import itertools
from typing import TYPE_CHECKING

from ...linen.values.sites import Site
from ...trees import subtree

if TYPE_CHECKING:
    from ...linen.execution.execute import Execution
    from ...linen.project.classes import ClassModel

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def why_not_by_default(run: Execution, site: Site) -> str:
    """Why a call of the class with its defaults may not reach the module; "" where it does."""
    node, _, env = site.calls[0]
    source = env.source
    around = [node, *source.ancestors(node)]
    own = {method.node: method for method in run.model.methods().values()}
    method = next((own[a] for a in around if a in own), None)
    if method is None or method.node not in _reached(run.model):
        return "its call is not followed"
    for child, parent in itertools.pairwise(around):
        if child is method.node:
            break
        asks = isinstance(parent, ast.If | ast.IfExp | ast.While) and child is not parent.test
        if asks and not _is_static(run, parent.test):
            return f"it is called only if `{ast.unparse(parent.test)}`"
        if isinstance(parent, ast.Try | ast.BoolOp | ast.Match):
            return "it is called in a `try` or the like"
        body = getattr(parent, "body", None)
        for before in body if isinstance(body, list) and child in body else []:
            if before is child:
                break
            if _may_leave(run, before):
                return "the call may return before"
    return ""


def _is_static(run: Execution, test: ast.expr) -> bool:
    """Does the constructor know which way a condition goes?"""
    found = run.evaluated.get(test)
    return found is not None and found.static and not found.flags


def _may_leave(run: Execution, statement: ast.stmt) -> bool:
    """Does a statement return, or leave a loop, by what the constructor does not know?"""
    if isinstance(statement, _FUNCTIONS):
        return False
    leaving = [n for n in subtree(statement) if isinstance(n, ast.Return | ast.Break | ast.Continue)]
    tests = [n.test for n in subtree(statement) if isinstance(n, ast.If | ast.While)]
    return bool(leaving) and not all(_is_static(run, test) for test in tests)


def _reached(model: ClassModel) -> set[ast.AST]:
    """The methods that a call of the class runs, as far as their names say it."""
    methods, found, todo = model.methods(), set[ast.AST](), ["__call__"]
    while todo:
        method = methods.get(todo.pop())
        if method is None or method.node in found:
            continue
        found.add(method.node)
        todo += [n.attr for n in method.nodes if isinstance(n, ast.Attribute)]
    return found


__all__ = ["why_not_by_default"]
