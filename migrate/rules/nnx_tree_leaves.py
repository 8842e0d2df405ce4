"""tree.map over Variables, which are pytrees since flax 0.12."""

from __future__ import annotations

import ast

from ..context import FileContext
from ..nnx.program.arguments import argument_span
from ..nnx.program.early import Types, is_early
from ..rule import Example, Rule
from ..trees import subtree

RULE = Rule(
    code="NNX908",
    name="nnx-variable-leaves",
    summary="a tree map whose function takes Variables stops at them with is_leaf",
    what="Adds `is_leaf=lambda x: isinstance(x, nnx.Variable)` to jax.tree.map where the mapped function takes"
    " variables: by annotation, or because it uses `.value` or the metadata of its arguments.",
    why="A Variable was a leaf of a State; since flax 0.12 it is a pytree, and the function would get its array.",
    how_sure="by construction; functions that are not visible in the file are left",
    examples=(
        Example(
            title="a momentum per parameter",
            before="""\
import jax
import jax.numpy as jnp
from flax import nnx


def zeros(v: nnx.Variable):
    return nnx.VariableState if False else nnx.Variable(jnp.zeros_like(v.value), **v.get_metadata())


params = nnx.variables(nnx.Linear(2, 3, rngs=nnx.Rngs(0)), nnx.Param)
momentum = jax.tree.map(zeros, params)
""",
            after="""\
import jax
import jax.numpy as jnp
from flax import nnx


def zeros(v: nnx.Variable):
    return nnx.Variable if False else nnx.Variable(jnp.zeros_like(v[...]), **v.get_metadata())


params = nnx.variables(nnx.Linear(2, 3, rngs=nnx.Rngs(0)), nnx.Param)
momentum = jax.tree.map(zeros, params, is_leaf=lambda x: isinstance(x, nnx.Variable))
""",
            run="def check(before, after):\n    assert after['momentum']['kernel'].shape == (2, 3)\n",
        ),
    ),
    words=frozenset({"tree_map", "tree_multimap", "map"}),
)
_MAPS = frozenset({"jax.tree.map", "jax.tree_map", "jax.tree_util.tree_map", "jax.tree_multimap"})
_MARKS = frozenset({"value", "get_metadata", "set_metadata", "get_value", "set_value"})


@RULE.register(ast.Call, ends=RULE.words)
def tree_map(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.Call)
    if ctx.qualname(node.func) not in _MAPS or len(node.args) < 2 or node.keywords or not is_early(ctx):
        return
    if any(isinstance(a, ast.Starred) for a in node.args):
        return
    types = Types.of(ctx)
    over = types.kind(node.args[1])
    if not _takes_variables(node.args[0], ctx, types) or (over is not None and over.what == "model"):
        return
    variable = ctx.name("flax.nnx.Variable")
    end = argument_span(ctx, node, node.args[-1]).end
    ctx.insert(end, f", is_leaf=lambda x: isinstance(x, {variable})", code=RULE.code)


def _takes_variables(function: ast.expr, ctx: FileContext, types: Types) -> bool:
    found: ast.AST | None = function
    if isinstance(function, ast.Name):
        found = next(
            (
                n
                for n in subtree(ctx.source.tree)
                if isinstance(n, ast.FunctionDef) and n.name == function.id and _visible(n, function, ctx)
            ),
            None,
        )
    if not isinstance(found, ast.FunctionDef | ast.Lambda):
        return False
    parameters = [a.arg for a in found.args.args]
    for argument in found.args.args:
        if argument.annotation is not None and (ctx.qualname(argument.annotation) or "") in types.variable_types:
            return True
    body = found.body if isinstance(found.body, list) else [found.body]
    return any(
        isinstance(n, ast.Attribute) and n.attr in _MARKS and isinstance(n.value, ast.Name) and n.value.id in parameters
        for stmt in body
        for n in subtree(stmt)
    )


def _visible(definition: ast.FunctionDef, use: ast.Name, ctx: FileContext) -> bool:
    holder = ctx.source.parents.get(definition)
    return isinstance(holder, ast.Module) or holder in list(ctx.source.ancestors(use))
