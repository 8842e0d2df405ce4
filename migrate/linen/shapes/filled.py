"""Arrays that are made for their shape: `jnp.ones_like(h[:, :1]) * t` is as wide as they are, `t` being a number mostly."""

from __future__ import annotations

import ast
import re
from typing import Any

from ..values.dims import Dim
from ..values.values import Array, Value

_FILLS = frozenset({"ones", "zeros", "empty", "full", "ones_like", "zeros_like", "empty_like", "full_like"})
_NUMBERS = re.compile(
    r"(t|s|dt|tau|\w*sigmas?|\w*snr|scale|level|\w*time\w*|\w*steps?|\w*temperature|alpha|beta|gamma|lam\w*|[a-z]_?t)"
)


def beside_argument(run: Any, node: ast.AST, a: Value, b: Value, env: Any) -> Array | None:
    """What such an array gives with an argument of the call of which nothing else tells that it has a size."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div):
        return None
    for made, filled, other, said in ((a, node.left, b, node.right), (b, node.right, a, node.left)):
        if not (isinstance(made, Array) and isinstance(other, Array) and _fills(run, filled, env)):
            continue
        column = made.shape.dim(-1) in (None, Dim.of(1))  # what is wide may be spread by it, too
        if _is_bare(env, other, said) and not (column and _NUMBERS.fullmatch(ast.unparse(said)) is None):
            return Array(made.shape)
    return None


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


__all__ = ["beside_argument"]
