"""Annotated variables of early NNX are made without a mesh."""

from __future__ import annotations

import ast

from ..context import FileContext
from ..nnx.program.early import Types, is_early
from ..rule import Example, Rule
from ..trees import subtree

RULE = Rule(
    code="NNX905",
    name="nnx-eager-sharding",
    summary="annotations of early NNX name a sharding and do not apply it",
    what="Adds `nnx.use_eager_sharding(False)` below the imports of a file that annotates variables in the early way.",
    why="Since flax 0.12 an annotated variable is sharded when it is made, and raises where no mesh is in force."
    " Programs of before make an unsharded model first and shard its state by its annotations.",
    how_sure="by construction: it is the behaviour that the program was written for",
    examples=(
        Example(
            title="annotated parameters",
            before="""\
import jax.numpy as jnp
from flax import nnx

w = nnx.Param(jnp.ones((4, 4)), sharding=('model', None))
""",
            after="""\
import jax.numpy as jnp
from flax import nnx

nnx.use_eager_sharding(False)  # annotations name a sharding and do not apply it, as before flax 0.12

w = nnx.Param(jnp.ones((4, 4)), out_sharding=('model', None))
""",
            run="""\
def check(before, after):
    after['nnx'].use_eager_sharding(True)
    assert after['w'].out_sharding == ('model', None) and len(after['w'][...].sharding.device_set) == 1
""",
        ),
    ),
    words=frozenset({"nnx"}),
)
_OF_TODAY = ("eager_sharding", "linen_parity", "as_abstract", "flax_always_shard_variable")


@RULE.register(ast.Module)
def eager(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.Module)
    if "nnx" not in ctx.source.text or not is_early(ctx) or not _annotates(node, ctx):
        return
    sources = ctx.project.files.values() if ctx.project is not None else [ctx.source]
    if any(word in source.text for source in sources for word in _OF_TODAY):
        return
    last = None
    seen = False
    for stmt in node.body:
        if isinstance(stmt, ast.Import | ast.ImportFrom):
            seen = seen or _imports_nnx(stmt)
            last = stmt
        elif seen:
            break
    if last is None or not seen:
        return
    at = ctx.source.line_span(last).end
    text = f"{ctx.name('flax.nnx')}.use_eager_sharding(False)"
    newline = ctx.source.newline
    comment = "  # annotations name a sharding and do not apply it, as before flax 0.12"
    lead = "" if ctx.source.text[:at].endswith(("\n", "\r")) else newline
    ctx.insert(at, f"{lead}{newline}{text}{comment}{newline}", code=RULE.code)
    ctx.report(
        last,
        RULE.code,
        "annotated variables are made unsharded, as early NNX made them",
        help="Make the model under jax.set_mesh and drop nnx.use_eager_sharding(False) to have it born sharded.",
    )


def _imports_nnx(stmt: ast.Import | ast.ImportFrom) -> bool:
    return any("nnx" in (getattr(stmt, "module", "") or "") or "nnx" in alias.name for alias in stmt.names)


def _annotates(tree: ast.Module, ctx: FileContext) -> bool:
    types = Types.of(ctx)
    for node in subtree(tree):
        if not isinstance(node, ast.Call):
            continue
        name = ctx.qualname(node.func)
        if name == "flax.nnx.with_partitioning":
            return True
        if name in types.variable_types or name == "flax.nnx.with_metadata":
            if any(k.arg in ("sharding", "sharding_names") for k in node.keywords):
                return True
    return False
