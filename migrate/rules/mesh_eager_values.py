"""Values that are made eagerly under a mesh and passed to a function that shards its arguments."""

from __future__ import annotations

import ast

from ..context import FileContext
from ..nnx.program.sharding import JITS, PARTIALS, in_traced_function, mesh_items, today
from ..rule import Example, Rule
from ..trees import subtree

RULE = Rule(
    code="NNX506",
    name="eager-value-under-mesh",
    summary="a value made under the mesh is put into the sharding that the jitted function asks for",
    what="Wraps arguments in `jax.device_put(value, spec)` where a `with mesh:` block makes them with jax.numpy or"
    " jax.random and passes them to a function that was jitted with a sharding for them.",
    why="Under jax.set_mesh eager results are committed to the whole mesh, replicated; jit then refuses them for an"
    "other in_sharding. Under `with mesh:` they were free to be placed.",
    how_sure="by construction: the sharding is the one that jit was asked to give them",
    examples=(
        Example(
            title="a batch made in the block",
            before="""\
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.pjit import pjit
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ('data',))
f = pjit(lambda w, x: w * x, in_axis_resources=(None, P('data')), out_axis_resources=P('data'))
with mesh:
    w = jnp.ones(())
    x = jnp.arange(8.0)
    y = f(w, x)
    z = f(w, jnp.ones((8,)))
""",
            after="""\
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ('data',))
f = jax.jit(lambda w, x: w * x, in_shardings=(P(), P('data')), out_shardings=P('data'))
with jax.set_mesh(mesh):
    w = jnp.ones(())
    x = jnp.arange(8.0)
    y = f(w, jax.device_put(x, P('data')))
    z = f(w, jax.device_put(jnp.ones((8,)), P('data')))
""",
            run="""\
def check(before, after):
    assert after['y'].tolist() == list(range(8)) and after['z'].sharding.spec == after['P']('data')
""",
        ),
    ),
)
_MAKERS = ("jax.numpy.", "jax.random.")


@RULE.register(ast.With)
def values(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.With)
    if not mesh_items(ctx, node) or in_traced_function(ctx, node):
        return
    made: set[str] = set()
    for stmt in node.body:
        for part in subtree(stmt):
            if isinstance(part, ast.Assign) and _is_made(part.value, ctx):
                made |= {t.id for t in part.targets if isinstance(t, ast.Name)}
    for stmt in node.body:
        for part in subtree(stmt):
            if isinstance(part, ast.Call):
                _place(part, made, ctx)


def _is_made(value: ast.expr, ctx: FileContext) -> bool:
    return isinstance(value, ast.Call) and (ctx.qualname(value.func) or "").startswith(_MAKERS)


def _place(call: ast.Call, made: set[str], ctx: FileContext) -> None:
    for index, spec in _specs(call.func, ctx).items():
        if index >= len(call.args):
            continue
        value = call.args[index]
        if (isinstance(value, ast.Name) and value.id in made) or _is_made(value, ctx):
            put = ctx.name("jax.device_put")
            ctx.replace(value, f"{put}(", ctx.span(value), f", {ctx.text(spec)})", code=RULE.code)


def _specs(function: ast.expr, ctx: FileContext) -> dict[int, ast.expr]:
    """The PartitionSpecs that a jitted function asks for its arguments, by position; replicated ones are left out."""
    if not isinstance(function, ast.Name):
        return {}
    definition = ctx.source.names.definitions.get(function.id)
    jitted: ast.expr | None = None
    if isinstance(definition, ast.FunctionDef):
        jitted = next((d for d in definition.decorator_list if isinstance(d, ast.Call)), None)
        if not (isinstance(jitted, ast.Call) and jitted.args and today(ctx, jitted.func) in PARTIALS):
            return {}
        if today(ctx, jitted.args[0]) not in JITS:
            return {}
    else:
        jitted = ctx.source.names.single_assignments.get(function.id)
        if not (isinstance(jitted, ast.Call) and today(ctx, jitted.func) in JITS):
            return {}
    keywords = {k.arg: k.value for k in jitted.keywords}
    if "static_argnums" in keywords:
        return {}  # positions of specs and of arguments differ
    tree = keywords.get("in_axis_resources", keywords.get("in_shardings"))
    entries = tree.elts if isinstance(tree, ast.Tuple) else [tree] if tree is not None else []
    return {index: entry for index, entry in enumerate(entries) if _is_sharded(entry, ctx)}


def _is_sharded(entry: ast.expr, ctx: FileContext) -> bool:
    made: ast.expr | None = entry
    if isinstance(entry, ast.Name):
        made = ctx.source.names.single_assignments.get(entry.id)
    if not isinstance(made, ast.Call) or today(ctx, made.func) != "jax.sharding.PartitionSpec":
        return False
    return any(not (isinstance(a, ast.Constant) and a.value is None) for a in made.args)
