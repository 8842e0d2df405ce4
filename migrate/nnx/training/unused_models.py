"""Names that held a Linen model for nothing but its `apply`: where the module is called in its place, they go.

model = get_model(table)                                       →
predictions = model.apply({"params": params}, inputs)          →   predictions = model(inputs)
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.flow.flow_values import Function, Method, Model, Symbol
from ...trees import subtree

if TYPE_CHECKING:
    from .native import _Native


def drop(form: _Native) -> None:
    """Delete the statements of functions that do not initialize the model."""
    base = form.init_model
    kept = form.flow.symbol(form.source(base), base) if isinstance(base, ast.Name) else None
    for symbol, value in form.roles.items():
        scope = symbol[1]
        if not isinstance(value, Model) or symbol == kept or not isinstance(scope, ast.FunctionDef):
            continue
        statement = _only_statement(form, symbol)
        if statement is not None and _quiet(form, statement.value):
            form.delete(statement)


def _only_statement(form: _Native, symbol: Symbol) -> ast.Assign | None:
    """The one that gives a name its model, if the name is read for calls of apply alone."""
    named = [node for node, _ in form.uses if isinstance(node, ast.Name)]
    named = [node for node in named if form.flow.symbol(form.source(node), node) == symbol]
    stores = [node for node in named if not isinstance(node.ctx, ast.Load)]
    statement = form.statement(stores[0]) if len(stores) == 1 else None
    if not isinstance(statement, ast.Assign) or statement.targets != stores or len(form.block(statement)) == 1:
        return None
    reads = [form.parent(node) for node in named if isinstance(node.ctx, ast.Load)]
    return statement if reads and all(_applied(form, node) for node in reads) else None


def _applied(form: _Native, node: ast.AST) -> bool:
    method = form.flow.value(node)
    call = form.parent(node)
    return isinstance(method, Method) and method.name == "apply" and isinstance(call, ast.Call) and call.func is node


def _quiet(form: _Native, node: ast.expr) -> bool:
    """A construction, or the call of a function that does no more than make one."""
    if not isinstance(node, ast.Call) or any(isinstance(inner, ast.NamedExpr | ast.Await) for inner in subtree(node)):
        return False
    if any(isinstance(inner, ast.Call) and inner is not node for inner in subtree(node)):
        return False
    if node in form.component.sites:
        return True
    value = form.flow.value(node.func)
    if not isinstance(value, Function) or value.transform:
        return False
    return all(_makes_only(form, function) for function in value.nodes)


def _makes_only(form: _Native, function: ast.AST) -> bool:
    """`return Model(config.width)`, after a docstring."""
    if not isinstance(function, ast.FunctionDef) or function.decorator_list:
        return False
    body = [s for s in function.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    if len(body) != 1 or not isinstance(body[0], ast.Return):
        return False
    calls = [node for node in subtree(body[0]) if isinstance(node, ast.Call)]
    return bool(calls) and all(call in form.component.sites for call in calls)
