"""Names of early flax.nnx that have no drop-in successor."""

from __future__ import annotations

import ast

from ..catalog.early_nnx import GONE
from ..context import FileContext
from ..diagnostics import Severity
from ..rule import Example, Rule

RULE = Rule(
    code="NNX910",
    name="nnx-gone",
    summary="nnx.Scan, nnx.Vmap, nnx.fork, nnx.with_sharding_constraint and others of early NNX are gone",
    what="Leaves the code as it is, marks it and says what stands for the name today.",
    why="flax 0.8 to 0.11 took these names out; their successors work differently enough that a person must choose.",
    how_sure="diagnostic only",
    examples=(
        Example(
            title="a stack of layers",
            before="""\
from flax import nnx


class Stack(nnx.Module):
    def __init__(self, block, rngs):
        self.layers = nnx.Scan(block, variable_axes={nnx.Param: 0}, length=3)(rngs=rngs)
""",
            after=None,
        ),
    ),
    words=frozenset({"nnx"}),
)


@RULE.register(ast.Name, ast.Attribute, ends=frozenset(name.rpartition(".")[2] for name in GONE))
def gone(node: ast.AST, ctx: FileContext) -> None:
    if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load):
        return
    name = ctx.qualname(node) or ""
    if name in GONE:
        said = name.removeprefix("flax.")
        ctx.report(node, RULE.code, f"{said} is gone", severity=Severity.WARNING, help=f"{said}: {GONE[name]}.")
