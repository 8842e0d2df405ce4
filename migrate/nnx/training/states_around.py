"""The structure of a model where only a state of it is in sight: `state.graphdef`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.flow.flow_nones import assigns_none
from ...linen.flow.flow_values import State

if TYPE_CHECKING:
    from .functional_kinds import Kind
    from .passed_trees import PassedTrees


def name_of(form: PassedTrees, kind: Kind, node: ast.AST, outer: ast.AST | None) -> str:
    """`state.graphdef` of a state that a function around a call has, up to that of the model's construction; "" where none
    has one."""
    source = form.source(node)
    inner: ast.AST = node
    scope = form.function(node)
    while True:
        names: list[str] = []
        if scope is not None:
            arguments = scope.args  # type: ignore[attr-defined]
            names = [a.arg for a in [*arguments.posonlyargs, *arguments.args]]
        for (module, where, name), value in form.flow.env.items():
            if where is not scope or module != source.module or not isinstance(value, State) or not kind.has(value):
                continue
            stores = [
                other.lineno
                for other in source.by_kind.get(ast.Name, ())
                if isinstance(other, ast.Name) and other.id == name and not isinstance(other.ctx, ast.Load)
                if form.flow.symbol(source, other) == (module, where, name) and not assigns_none(source, other)
            ]
            block = source.tree if scope is None else scope
            bound = name in names or (stores and _first_statement(block, stores) and min(stores) < inner.lineno)  # type: ignore[attr-defined]
            if bound and source.names.binding_scope(name, node) is scope:
                return f"{name}.graphdef"
        if scope is None or scope is outer:
            return ""
        inner, scope = scope, form.function(scope)


def _first_statement(scope: ast.AST, lines: list[int]) -> bool:
    """Is the first of these lines a statement of the function's own block, which is always come to?"""
    body = scope.body if isinstance(scope, ast.FunctionDef | ast.Module) else []
    return any(isinstance(s, ast.Assign) and s.lineno <= min(lines) <= (s.end_lineno or 0) for s in body)


__all__ = ["name_of"]
