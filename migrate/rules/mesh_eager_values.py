"""Values that are made eagerly under a mesh and passed to a function that shards its arguments."""

from __future__ import annotations

import ast

from ..context import FileContext
from ..nnx.program.placed_values import sharded_arguments
from ..nnx.program.sharding import has_mesh_context, in_traced_function
from ..rule import Example, Rule

RULE = Rule(
    code="NNX506",
    name="eager-value-under-mesh",
    summary="a value made under the mesh is put into the sharding that the jitted function asks for",
    what="Wraps arguments in `jax.device_put(value, sharding)` where code in a `with mesh:` block, or called from it, makes"
    " them with jax.numpy, jax.random, `init` or `create`, for functions that were jitted with shardings for them."
    " Where the sharding has no name at the call (`in_shardings` of another function) they stay: put them there yourself.",
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


@RULE.register(ast.Call, words=frozenset({"in_shardings", "in_axis_resources", "pjit"}))  # what jits with shardings
def values(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.Call)
    if not has_mesh_context(ctx):
        return
    found = list(sharded_arguments(ctx, node))
    if not found or in_traced_function(ctx, node):
        return
    put = ctx.name("jax.device_put")
    for value, spec in found:
        ctx.insert(ctx.span(value).start, f"{put}(", code=RULE.code)
        ctx.insert(ctx.span(value).end, f", {ctx.text(spec)})", code=RULE.code)
