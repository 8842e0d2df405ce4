"""jax.ops.index_update and its like → x.at[...]."""

from __future__ import annotations

import ast

from ..context import FileContext
from ..rule import Example, Rule

_METHODS = {"update": "set", "add": "add", "mul": "multiply", "min": "min", "max": "max"}

RULE = Rule(
    code="NNX809",
    name="index-update",
    summary="jax.ops.index_update and its like are x.at[...].set and its like; msort and pvary are spelled out",
    what="Rewrites index_update, index_add, index_mul, index_min, index_max, jax.ops.index[...], jnp.msort, lax.pvary"
    " and lax.tie_in.",
    why="jax.ops.index_* went with 0.3.2, msort with 0.4.9, tie_in with 0.4.29, pvary with 0.10.0.",
    how_sure="by construction",
    examples=(
        Example(
            title="index update",
            before="""\
import jax
import jax.numpy as jnp
from jax.ops import index, index_add

x = jnp.zeros((2, 3))
x = jax.ops.index_update(x, jax.ops.index[0, :], 5.0)
x = index_add(x + 1, index[1], 2.0)
""",
            after="""\
import jax.numpy as jnp

x = jnp.zeros((2, 3))
x = x.at[0, :].set(5.0)
x = (x + 1).at[1].add(2.0)
""",
            run="def check(before, after):\n    assert after['x'].tolist() == [[6.0] * 3, [3.0] * 3]\n",
        ),
        Example(
            title="an index that is a value",
            before="""\
import jax
import jax.numpy as jnp

where = (0, slice(1, None))
y = jax.ops.index_max(jnp.zeros((2, 3)), where, 1.0)
z = jnp.msort(jnp.asarray([3, 1]))
""",
            after="""\
import jax.numpy as jnp

where = (0, slice(1, None))
y = jnp.zeros((2, 3)).at[where].max(1.0)
z = jnp.sort(jnp.asarray([3, 1]), axis=0)
""",
            run="""\
def check(before, after):
    assert float(after['y'].sum()) == 2 and after['z'].tolist() == [1, 3]
""",
        ),
    ),
    words=frozenset({*(f"index_{name}" for name in _METHODS), "msort", "tie_in", "pvary"}),
)


@RULE.register(ast.Call, ends=RULE.words)
def index_update(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.Call)
    name = ctx.qualname(node.func) or ""
    method = _METHODS.get(name.removeprefix("jax.ops.index_"))
    if any(isinstance(a, ast.Starred) for a in node.args):
        return
    if name.startswith("jax.ops.index_") and method is not None and len(node.args) == 3:
        x, index, value = node.args
        keywords = "".join(f", {ctx.text(k)}" for k in node.keywords)
        open_, close = ("", "") if isinstance(x, ast.Name | ast.Attribute | ast.Call | ast.Subscript) else ("(", ")")
        where: ast.AST = index
        if isinstance(index, ast.Subscript) and ctx.qualname(index.value) == "jax.ops.index":
            where = index.slice
        at = ctx.span(where)
        ctx.replace(
            node,
            open_,
            ctx.span(x),
            f"{close}.at[",
            at,
            f"].{method}(",
            ctx.span(value),
            f"{keywords})",
            code=RULE.code,
        )
    elif name == "jax.numpy.msort" and len(node.args) == 1:
        ctx.replace(node, f"{ctx.name('jax.numpy.sort')}(", ctx.span(node.args[0]), ", axis=0)", code=RULE.code)
    elif name == "jax.lax.tie_in" and len(node.args) == 2:
        ctx.replace(node, ctx.span(node.args[1]), code=RULE.code)
    elif name == "jax.lax.pvary" and len(node.args) == 2 and not node.keywords:
        x, axes = node.args
        pcast = ctx.name("jax.lax.pcast")
        ctx.replace(node, f"{pcast}(", ctx.span(x), ", ", ctx.span(axes), ", to='varying')", code=RULE.code)
