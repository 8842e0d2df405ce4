"""jax.device_put_replicated and device_put_sharded, which jax 0.10 removed."""

from __future__ import annotations

import ast

from ..context import FileContext
from ..rule import Example, Rule
from ..trees import subtree

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


ARGUMENTS = {"jax.device_put_replicated": ("x", "devices"), "jax.device_put_sharded": ("shards", "devices")}


def arguments(call: ast.Call, name: str) -> tuple[ast.expr, ast.expr] | None:
    """What is copied and where to, of a call of one of these; None where it cannot be told apart."""
    given: dict[str | None, ast.expr] = dict(zip(ARGUMENTS[name], call.args, strict=False))
    given.update((keyword.arg, keyword.value) for keyword in call.keywords)
    if len(given) != len(call.args) + len(call.keywords) or given.keys() != set(ARGUMENTS[name]):
        return None
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    value, devices = (given[argument] for argument in ARGUMENTS[name])
    return value, devices


@RULE.register(ast.Call, ends=frozenset({"device_put_replicated", "device_put_sharded"}))
def device_put_copies(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.Call)
    name = ctx.qualname(node.func)
    given = arguments(node, name) if name in ARGUMENTS else None
    if name is None or given is None:
        return
    value, devices = given
    put, stack = ctx.name("jax.device_put"), ctx.name("jax.numpy.stack")
    mesh = f"{ctx.name('jax.NamedSharding')}({ctx.name('jax.sharding.Mesh')}("
    spec = f", ('devices',)), {ctx.name('jax.P')}('devices'))), "
    tree = ctx.name("jax.tree.map")
    said = {n.id for n in subtree(devices) if isinstance(n, ast.Name)}
    x = next(stem for stem in ("x", "leaf", "leaf_") if stem not in said)  # the lambda says `devices`, too
    if name.endswith("replicated"):
        lead = f"{tree}(lambda {x}: {put}({stack}([{x}] * len({ctx.text(devices)})), {mesh}"
        ctx.replace(node, lead, ctx.span(devices), spec, ctx.span(value), ")", code=RULE.code)
    else:
        lead = f"{tree}(lambda *{x}: {put}({stack}({x}), {mesh}"
        ctx.replace(node, lead, ctx.span(devices), f"{spec}*", ctx.span(value), ")", code=RULE.code)
