"""Arrays that are made for their shape: `jnp.ones_like(h) * t` is as wide as they are, whatever `t` is: a number, often.

A column (`jnp.ones_like(h[:, :1]) * t`) may be spread by what it meets. An argument that is called as a time is taken to
be a number or one wide, and the report says so.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from ..values.dims import Dim
from ..values.values import Array, Value

_FILLS = frozenset({"ones", "zeros", "empty", "full", "ones_like", "zeros_like", "empty_like", "full_like"})
_TIMES = re.compile(r"t|dt|tau|\w*time\w*|\w*timesteps?")


def beside_argument(run: Any, node: ast.AST, a: Value, b: Value, env: Any) -> Array | None:
    """What such an array gives with an argument of the call of which nothing else tells that it has a size."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div):
        return None
    for made, filled, other, said in ((a, node.left, b, node.right), (b, node.right, a, node.left)):
        if not (isinstance(made, Array) and isinstance(other, Array) and _fills(run, filled, env)):
            continue
        column = made.shape.dim(-1) in (None, Dim.of(1))
        if _is_bare(env, other, said) and not (column and _TIMES.fullmatch(ast.unparse(said)) is None):
            return Array(made.shape)
    return None


def taken_for_columns(run: Any) -> Iterator[tuple[str, ast.BinOp]]:
    """The times that stand beside such an array, where nothing but their names says that they have one column at most."""
    for method in run.model.methods().values():
        parameters = {p.arg for p in method.positional}
        for node in method.nodes:
            if isinstance(node, ast.BinOp):
                for made, said in ((node.left, node.right), (node.right, node.left)):
                    known = isinstance(made, ast.Call) and ast.unparse(made.func).rpartition(".")[2] in _FILLS
                    if known and isinstance(said, ast.Name) and said.id in parameters and _TIMES.fullmatch(said.id):
                        yield said.id, node


def _fills(run: Any, node: ast.expr, env: Any) -> bool:
    if not isinstance(node, ast.Call):
        return False
    module, _, name = (run.project.qualname(env.source, node.func) or "").rpartition(".")
    return module in ("jax.numpy", "numpy") and name in _FILLS


def _is_bare(env: Any, value: Array, said: ast.expr) -> bool:
    """Is it a whole argument, of no known rank, whose shape and items the method never asks for?"""
    lead = value.shape.lead
    if value.shape.dims or lead is None or not lead.known or lead.head or lead.dropped or lead.skipped:
        return False
    if not isinstance(said, ast.Name) or env.method is None:
        return False
    asked = (n.value for n in env.method.nodes if isinstance(n, ast.Attribute | ast.Subscript))
    return not any(isinstance(n, ast.Name) and n.id == said.id for n in asked)


__all__ = ["beside_argument", "taken_for_columns"]
