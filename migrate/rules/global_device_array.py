"""GlobalDeviceArray.from_callback → jax.make_array_from_callback."""

from __future__ import annotations

import ast

from ..context import FileContext
from ..diagnostics import Severity
from ..rule import Example, Rule

RULE = Rule(
    code="NNX812",
    name="global-device-array",
    summary="a global array is made with jax.make_array_from_callback",
    what="Rewrites `GlobalDeviceArray.from_callback(shape, mesh, axes, callback)`; its batched forms are marked.",
    why="GlobalDeviceArray became jax.Array in jax 0.4.1 and went with 0.4.7.",
    how_sure="bitwise: the callback is asked for the same slices",
    examples=(
        Example(
            title="from_callback",
            before="""\
import jax
import numpy as np
from jax.experimental.global_device_array import GlobalDeviceArray
from jax.experimental.maps import Mesh
from jax.experimental import PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ('x',))
data = np.arange(16.0)
gda = GlobalDeviceArray.from_callback(data.shape, mesh, P('x'), lambda index: data[index])
is_global = isinstance(gda, GlobalDeviceArray)
""",
            after="""\
import jax
import numpy as np
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ('x',))
data = np.arange(16.0)
gda = jax.make_array_from_callback(
    data.shape, jax.NamedSharding(mesh, P('x')), lambda index: data[index]
)
is_global = isinstance(gda, jax.Array)
""",
            run="""\
def check(before, after):
    assert after['is_global'] and after['gda'].tolist() == list(range(16))
    assert after['gda'].sharding.spec == after['P']('x')
""",
        ),
    ),
    words=frozenset({"GlobalDeviceArray"}),
)
_CLASS = "jax.experimental.global_device_array.GlobalDeviceArray"


@RULE.register(ast.Call)
def from_callback(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.Call)
    name = ctx.qualname(node.func) or ""
    if not name.startswith(f"{_CLASS}."):
        return
    if name != f"{_CLASS}.from_callback" or len(node.args) != 4 or node.keywords:
        ctx.report(
            node,
            RULE.code,
            f"{name.rpartition('.')[2]} of GlobalDeviceArray is gone",
            severity=Severity.WARNING,
            help="jax.make_array_from_callback, or jax.make_array_from_single_device_arrays for batches.",
        )
        return
    shape, mesh, axes, callback = (ctx.span(arg) for arg in node.args)
    make, sharding = ctx.name("jax.make_array_from_callback"), ctx.name("jax.NamedSharding")
    ctx.replace(
        node, f"{make}(", shape, f", {sharding}(", mesh, ", ", axes, "), ", callback, ")", code=RULE.code
    )  # fmt: skip
