"""jax.device_put_replicated and device_put_sharded, which jax 0.10 removed."""

from __future__ import annotations

import ast

from ..context import FileContext
from ..rule import Example, Rule

RULE = Rule(
    code="NNX806",
    name="device-put-copies",
    summary="device_put_replicated and device_put_sharded are a stack that is put on a one-axis mesh",
    what="Rewrites them to `jax.tree.map` over `jax.device_put` with a NamedSharding on a mesh of the devices.",
    why="Both were removed from jax 0.10.0.",
    how_sure="bitwise: the same stacked arrays, one row a device",
    examples=(
        Example(
            title="replicated",
            before="""\
import jax
import jax.numpy as jnp

state = jax.device_put_replicated({'w': jnp.arange(2.0)}, jax.local_devices())
""",
            after="""\
import jax
import jax.numpy as jnp

state = jax.tree.map(
    lambda x: jax.device_put(
        jnp.stack([x] * len(jax.local_devices())),
        jax.NamedSharding(jax.sharding.Mesh(jax.local_devices(), ('devices',)), jax.P('devices')),
    ),
    {'w': jnp.arange(2.0)},
)
""",
            run="""\
def check(before, after):
    assert after['state']['w'].shape == (8, 2) and len(after['state']['w'].sharding.device_set) == 8
    assert float(after['state']['w'].sum()) == 8
""",
        ),
        Example(
            title="sharded",
            before="""\
import jax
import jax.numpy as jnp
import numpy as np

devices = jax.local_devices()
xs = jax.device_put_sharded([np.full(2, i) for i in range(8)], devices)
""",
            after="""\
import jax
import jax.numpy as jnp
import numpy as np

devices = jax.local_devices()
xs = jax.tree.map(
    lambda *x: jax.device_put(
        jnp.stack(x), jax.NamedSharding(jax.sharding.Mesh(devices, ('devices',)), jax.P('devices'))
    ),
    *[np.full(2, i) for i in range(8)],
)
""",
            run="""\
def check(before, after):
    assert after['xs'].shape == (8, 2) and float(after['xs'].sum()) == 56
    assert len(after['xs'].sharding.device_set) == 8
""",
        ),
    ),
    words=frozenset({"device_put_replicated", "device_put_sharded"}),
)


@RULE.register(ast.Call, ends=frozenset({"device_put_replicated", "device_put_sharded"}))
def device_put_copies(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.Call)
    name = ctx.qualname(node.func)
    if name not in ("jax.device_put_replicated", "jax.device_put_sharded"):
        return
    given = [*node.args, *[k.value for k in node.keywords]]
    if len(given) != 2 or any(isinstance(a, ast.Starred) for a in given):
        return
    value, devices = given
    put, stack = ctx.name("jax.device_put"), ctx.name("jax.numpy.stack")
    mesh = f"{ctx.name('jax.NamedSharding')}({ctx.name('jax.sharding.Mesh')}("
    spec = f", ('devices',)), {ctx.name('jax.P')}('devices'))), "
    tree = ctx.name("jax.tree.map")
    if name.endswith("replicated"):
        lead = f"{tree}(lambda x: {put}({stack}([x] * len({ctx.text(devices)})), {mesh}"
        ctx.replace(node, lead, ctx.span(devices), spec, ctx.span(value), ")", code=RULE.code)
    else:
        lead = f"{tree}(lambda *x: {put}({stack}(x), {mesh}"
        ctx.replace(node, lead, ctx.span(devices), f"{spec}*", ctx.span(value), ")", code=RULE.code)
