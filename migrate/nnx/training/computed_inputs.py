"""Inputs of `init` that another model computes: the size is read off what it gives, which gets a name.

head_params = head.init(key, body.apply(params, x))     →   head_input = body(x)
                                                            head = Head(in_features=head_input.shape[-1], ...)
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.flow.flow_values import Method, Tracked
from ...trees import subtree

if TYPE_CHECKING:
    from .rewrite import Rewrite

_PURE = ("jax.", "flax.", "numpy.")
_SIMPLE = ast.Assign | ast.AnnAssign | ast.Return | ast.Expr


def name(form: Rewrite, call: ast.Call, node: ast.expr, stem: str) -> ast.Name | None:
    """The name of what an input is, in a statement before that of `init`; None where it cannot stand there."""
    if node not in form.computed:
        if not _may_stand_before(form, call, node):
            return None
        source = form.source(call)
        count = len(form.computed)  # each its own: by its text a size is told from another
        given = f"{stem}_input_{count}" if count else f"{stem}_input"
        nodes = (n for n in source.nodes if isinstance(n, ast.Name | ast.arg))
        taken = {n.id if isinstance(n, ast.Name) else n.arg for n in nodes}
        if given in taken or given in source.names.imports or given in source.names.definitions:
            return None
        form.computed[node] = given
        form.insert_before(form.statement(call), f"{given} = ", node)
    return ast.Name(form.computed[node], ast.Load())


def _may_stand_before(form: Rewrite, call: ast.Call, node: ast.expr) -> bool:
    """Is it computed whenever its statement runs, of other models, and does it change nothing?"""
    statement = form.statement(call)
    if node not in form.flow.source_of or not isinstance(node, ast.Call) or not isinstance(statement, _SIMPLE):
        return False
    for between in form.source(node).ancestors(node):
        if between is statement:
            break
        if not isinstance(between, ast.Call | ast.keyword | ast.Subscript | ast.Attribute | ast.Tuple | ast.Dict):
            return False
    for inner in subtree(node):
        if isinstance(inner, ast.NamedExpr | ast.Lambda | ast.Await | ast.Starred):
            return False
        value = form.flow.value(inner)
        if isinstance(value, Tracked) and form.component.holds(value):
            return False
        if isinstance(inner, ast.Call):
            applies = isinstance(method := form.flow.value(inner.func), Method) and method.name == "apply"
            applies = applies and not any(keyword.arg in ("mutable", None) for keyword in inner.keywords)
            library = form.flow.name(inner.func) or ""
            if not applies and (not library.startswith(_PURE) or library.startswith("numpy.random.")):
                return False
    return True
