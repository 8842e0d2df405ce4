"""pjit's with_sharding_constraint → jax.lax's."""

from __future__ import annotations

import ast

from ..context import FileContext
from ..edits import Span
from ..nnx.program.sharding import is_alias, replicated
from ..rule import Example, Rule

RULE = Rule(
    code="NNX504",
    name="pjit-sharding-constraint",
    summary="with_sharding_constraint is in jax.lax and takes shardings",
    what="Rewrites `pjit.with_sharding_constraint`; `axis_resources=` becomes `shardings=`, and a literal None, which"
    " meant replicated, becomes P().",
    why="The pjit name went after jax 0.4.16, the keyword with 0.4.11. Today's None leaves the value as it comes.",
    how_sure="by construction",
    examples=(
        Example(
            title="call",
            before="""\
import jax
import numpy as np
from jax.experimental.pjit import with_sharding_constraint
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ('data',))


@jax.jit
def f(x):
    y = with_sharding_constraint(x, axis_resources=P('data'))
    return y, with_sharding_constraint(y * 2, None)


with mesh:
    y, z = f(np.ones(8))
""",
            after="""\
import jax
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ('data',))


@jax.jit
def f(x):
    y = jax.lax.with_sharding_constraint(x, shardings=P('data'))
    return y, jax.lax.with_sharding_constraint(y * 2, P())


with jax.set_mesh(mesh):
    y, z = f(np.ones(8))
""",
            run="""\
def check(before, after):
    assert after['y'].sharding.spec == after['P']('data')
    assert after['z'].sharding.is_fully_replicated
""",
        ),
    ),
    words=frozenset({"with_sharding_constraint"}),
)
_OLD = "jax.experimental.pjit.with_sharding_constraint"


@RULE.register(ast.Name, ast.Attribute, ends=frozenset({"with_sharding_constraint"}))
def constraint(node: ast.AST, ctx: FileContext) -> None:
    if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load):
        return
    old = ctx.qualname(node) == _OLD
    if not old and ctx.qualname(node) != "jax.lax.with_sharding_constraint":
        return
    if old and not is_alias(ctx, node):
        ctx.replace(node, ctx.name("jax.lax.with_sharding_constraint"), code=RULE.code)
    parent = ctx.source.parents.get(node)
    if not isinstance(parent, ast.Call) or parent.func is not node:
        return
    for keyword in parent.keywords:
        if keyword.arg == "axis_resources":
            start = ctx.source.offset(keyword.lineno, keyword.col_offset)
            ctx.replace(Span(start, start + len(keyword.arg)), "shardings", code=RULE.code)
    given = [*parent.args[1:2], *[k.value for k in parent.keywords if k.arg in ("axis_resources", "shardings")]]
    for value in given if old else ():
        if isinstance(value, ast.Constant) and value.value is None:
            ctx.replace(value, replicated(ctx), code=RULE.code)
