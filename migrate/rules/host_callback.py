"""jax.experimental.host_callback, which jax 0.8 removed, as today's callbacks."""

from __future__ import annotations

import ast

from ..context import FileContext
from ..rule import Example, Rule
from . import _host_callback

_PARITY = {"call": "host_call", "id_tap": "id_tap", "id_print": "id_print"}
RULE = Rule(
    code=_host_callback.CODE,
    name="host-callback",
    summary="host_callback's call, id_tap and id_print are today's callbacks",
    what="`hcb.call` becomes an ordered `jax.experimental.io_callback`, `hcb.id_tap` an ordered `jax.debug.callback`, by "
    "way of helpers of the same signature that hand numpy arrays to the host, as host_callback did; `hcb.id_print` becomes "
    "`jax.debug.print`, and `hcb.barrier_wait()` is `jax.effects_barrier()`. All uses of a file are rewritten, or none "
    "(NNX811): `tap_with_device`, functions that are handed on, and text that is not a literal are left; so are taps and "
    "calls of projects that say pmap, pjit or a mesh, since callbacks run in order on one device only, and taps of projects "
    "that say vmap, where the host would see each item by itself.",
    why="jax deprecated host_callback in 0.4.26, emptied it in 0.4.35 and removed it with 0.8.0 (jax issue 20385 and pull "
    "request 30798, which name the successors).",
    how_sure="The host is called with the same values in the same order; what id_print writes has another layout.",
    examples=(
        Example(
            title="a tap, a call and a print",
            before="""\
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import host_callback as hcb

seen = []


@jax.jit
def f(x):
    hcb.id_tap(lambda value, _: seen.append(float(value)), x.sum())
    hcb.id_print(x, what='x')
    return hcb.call(np.sort, x, result_shape=x)


y = f(jnp.array([3.0, 1.0, 2.0]))
hcb.barrier_wait()
""",
            after="""\
import jax
import jax.numpy as jnp
import numpy as np
import linen_parity

seen = []


@jax.jit
def f(x):
    linen_parity.id_tap(lambda value, _: seen.append(float(value)), x.sum())
    jax.debug.print('x {}', x, ordered=True)
    return linen_parity.host_call(np.sort, x, result_shape=x)


y = f(jnp.array([3.0, 1.0, 2.0]))
jax.effects_barrier()
""",
            run="""\
def check(before, after):
    assert after['seen'] == [6.0] and after['y'].tolist() == [1.0, 2.0, 3.0]
""",
        ),
    ),
    words=frozenset({"host_callback"}),
)


@RULE.register(ast.Call)
def host_callback(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.Call)
    member = _host_callback.calls(ctx).get(node)
    if member is None:
        return
    if member == "barrier_wait":
        ctx.replace(node, f"{ctx.name('jax.effects_barrier')}()", code=RULE.code)
        return
    given = {k.arg: k.value for k in node.keywords}
    if _host_callback.is_print(ctx, node, member):
        what = given.get("what")
        shown = f"{what.value!s} {{}}" if isinstance(what, ast.Constant) and what.value else "{}"
        printed = node.args[0] if node.args else given["arg"]
        end = ")" if _host_callback.several_devices(ctx) else ", ordered=True)"
        ctx.replace(node, f"{ctx.name('jax.debug.print')}({shown!r}, ", ctx.span(printed), end, code=RULE.code)
        return
    ctx.replace(node.func, ctx.parity(_PARITY[member]), code=RULE.code)
