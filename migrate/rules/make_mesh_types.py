"""jax.make_mesh without axis types: Explicit today, Auto when the code was written."""

from __future__ import annotations

import ast

from ..context import FileContext
from ..linen.project.axis_rules import argument, literal
from ..nnx.program.arguments import argument_span
from ..rule import Example, Rule

RULE = Rule(
    code="NNX505",
    name="make-mesh-axis-types",
    summary="jax.make_mesh is given the Auto axis types that it used to have",
    what="Adds `axis_types=(jax.sharding.AxisType.Auto,) * n` where a project of the time before explicit sharding"
    " calls jax.make_mesh.",
    why="Since jax 0.9.0 the axes are Explicit by default: constraints then assert instead of resharding, and an"
    " embedding that is sharded over its vocabulary raises.",
    how_sure="by construction; a project that already uses axis types or jax.set_mesh is left alone",
    examples=(
        Example(
            title="call",
            before="""\
import jax

mesh = jax.make_mesh((2, 4), ('data', 'model'))
""",
            after="""\
import jax

mesh = jax.make_mesh((2, 4), ('data', 'model'), axis_types=(jax.sharding.AxisType.Auto,) * 2)
""",
            run="""\
def check(before, after):
    assert all(t == after['jax'].sharding.AxisType.Auto for t in after['mesh'].axis_types)
""",
        ),
    ),
    words=frozenset({"make_mesh"}),
)
_OF_TODAY = ("axis_types", "AxisType", "set_mesh", "jax.P(", "jax.shard_map", "use_mesh", "explicit_axes")


@RULE.register(ast.Call, ends=frozenset({"make_mesh"}))
def make_mesh(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.Call)
    if ctx.qualname(node.func) != "jax.make_mesh" or any(k.arg in ("axis_types", None) for k in node.keywords):
        return
    if len(node.args) > 2 or _is_of_today(ctx):
        return
    names = argument(node, 1, "axis_names")
    if names is None:
        return
    value = literal(ctx.project, ctx.source, names)
    count = str(len(value)) if isinstance(value, tuple) else f"len({ctx.text(names)})"
    auto = ctx.name("jax.sharding.AxisType.Auto")
    last = [*node.args, *[k.value for k in node.keywords]][-1]
    ctx.insert(argument_span(ctx, node, last).end, f", axis_types=({auto},) * {count}", code=RULE.code)


def _is_of_today(ctx: FileContext) -> bool:
    files = ctx.project.files.values() if ctx.project is not None else [ctx.source]
    return any(word in source.text for source in files for word in _OF_TODAY)
