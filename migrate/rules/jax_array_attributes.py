"""Attributes of jax arrays that are gone."""

from __future__ import annotations

import ast

from ..catalog.jax_names import GONE_ATTRIBUTES
from ..context import FileContext
from ..diagnostics import Severity
from ..rule import Example, Rule

RULE = Rule(
    code="NNX815",
    name="jax-array-attributes",
    summary="x.device(), x.device_buffer, x.block_host_until_ready() and key.unsafe_raw_array() are gone",
    what="Leaves the code as it is, marks it and says what stands for the attribute today. `x.device()` is marked where no"
    " class of the file has such a method.",
    why="jax took them out between 0.4.1 and 0.4.27: they raise AttributeError, and `x.device` is a property, which cannot"
    " be called. What has them may be no array, so that a person must look.",
    how_sure="diagnostic only",
    examples=(
        Example(
            title="where an array lies",
            before="import jax.numpy as jnp\n\nx = jnp.ones(3)\nprint(x.device(), x.device_buffer)\n",
            after=None,
        ),
    ),
    words=frozenset({*GONE_ATTRIBUTES, "device"}),
)


@RULE.register(ast.Attribute, ends=RULE.words)
def attribute(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.Attribute)
    if not isinstance(node.ctx, ast.Load) or "jax" not in ctx.source.words:
        return
    base: ast.expr = node
    while isinstance(base, ast.Attribute):
        base = base.value
    if isinstance(base, ast.Name) and base.id in ctx.source.names.imports:
        return  # a module's own
    version, today = GONE_ATTRIBUTES.get(node.attr) or ("0.4.27", "x.devices(), or x.device without the call")
    if node.attr in GONE_ATTRIBUTES or (node.attr == "device" and _asks_for_its_device(node, ctx)):
        ctx.report(
            node,
            RULE.code,
            f"arrays have no {node.attr}{'()' if node.attr == 'device' else ''} since jax {version}",
            severity=Severity.WARNING,
            help=f"Where this is an array: {today}.",
        )


def _asks_for_its_device(node: ast.Attribute, ctx: FileContext) -> bool:
    call = ctx.source.parents.get(node)
    if not isinstance(call, ast.Call) or call.func is not node or call.args or call.keywords:
        return False
    functions = ctx.source.by_kind.get(ast.FunctionDef, ())
    own = any(isinstance(f, ast.FunctionDef) and f.name == "device" for f in functions)
    return not own and not (isinstance(node.value, ast.Name) and node.value.id == "self")
