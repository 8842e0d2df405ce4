"""`jax.jit(fun=f, ...)` → `jax.jit(f, ...)`, and pjit's."""

from __future__ import annotations

import ast

from ..context import FileContext
from ..nnx.program.arguments import function_first
from ..nnx.program.sharding import PARTIALS, PJIT
from ..rule import Example, Rule

RULE = Rule(
    code="NNX813",
    name="jax-function-argument",
    summary="jax.jit and pjit are given the function by position",
    what="Moves `fun=` to the front, without its name, also in `functools.partial(jax.jit, fun=f)`.",
    why="The function is a positional argument alone in today's jax.jit (TypeError), to which pjit is rewritten.",
    how_sure="by construction",
    examples=(
        Example(
            title="by its name",
            before="""\
import jax

double = jax.jit(fun=lambda x: 2 * x)
power = jax.jit(static_argnums=1, fun=lambda x, n: x**n)
""",
            after="""\
import jax

double = jax.jit(lambda x: 2 * x)
power = jax.jit(lambda x, n: x**n, static_argnums=1)
""",
            run="""\
def check(before, after):
    assert after['double'](3) == 6 and after['power'](2, 3) == 8
""",
        ),
    ),
    words=frozenset({"fun"}),
)


@RULE.register(ast.Call)
def function_by_name(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.Call)
    if not any(keyword.arg == "fun" for keyword in node.keywords):
        return
    partial = ctx.qualname(node.func) in PARTIALS and node.args
    name = ctx.qualname(node.args[0] if partial else node.func)
    if name == "jax.jit" or name in PJIT:
        function_first(ctx, node, "fun", len(node.args[:1]) if partial else 0, RULE.code)


__all__ = ["RULE"]
