"""pjit → jax.jit, as call, decorator, functools.partial or value."""

from __future__ import annotations

import ast

from ..context import FileContext
from ..diagnostics import Severity
from ..edits import Span
from ..nnx.sharding import PARTIALS, PJIT, JitArgument, is_alias, jit_arguments
from ..rule import Example, Rule

RULE = Rule(
    code="NNX501",
    name="pjit",
    summary="pjit is jax.jit, and its axis resources are in_shardings and out_shardings",
    what="Rewrites pjit calls, decorators, partials and references. A literal None in its resources becomes P().",
    why="`in_axis_resources` went with jax 0.4.14 and pjit is deprecated. Old pjit read None as replicated; jax.jit"
    " reads it as left open, so a None that stays would leave outputs to the compiler.",
    how_sure="by construction for literal trees; a tree that is computed elsewhere may hold a None, which is reported",
    examples=(
        Example(
            title="call",
            before="""\
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.pjit import pjit
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ('data', 'model'))
f = pjit(lambda x, n: x * n, in_axis_resources=(P('data', None),), out_axis_resources=None,
         static_argnums=(1,))
with mesh:
    y = f(jax.device_put(np.ones((4, 8), np.float32)), 2)
""",
            after="""\
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ('data', 'model'))
f = jax.jit(lambda x, n: x * n, in_shardings=(P('data', None),), out_shardings=P(),
         static_argnums=(1,))
with jax.set_mesh(mesh):
    y = f(jax.device_put(np.ones((4, 8), np.float32)), 2)
""",
            run="""\
def check(before, after):
    y = after['y']
    assert y.sharding.is_equivalent_to(after['jax'].NamedSharding(after['mesh'], after['P']()), 2), y.sharding
    assert float(y.sum()) == 64
""",
        ),
        Example(
            title="decorator",
            before="""\
import functools
import jax
import numpy as np
from jax.experimental.pjit import pjit
from jax.experimental import PartitionSpec
from jax.experimental.maps import Mesh

mesh = Mesh(np.array(jax.devices()), ('data',))


@functools.partial(pjit, in_axis_resources=(None, PartitionSpec('data')), out_axis_resources=PartitionSpec('data'))
def step(w, x):
    return w * x


@pjit
def double(x):
    return 2 * x


with mesh:
    out = double(step(np.float32(3), np.ones(8, np.float32)))
""",
            after="""\
import functools
import jax
import numpy as np
from jax.sharding import PartitionSpec
from jax.sharding import Mesh

mesh = Mesh(np.array(jax.devices()), ('data',))


@functools.partial(jax.jit, in_shardings=(PartitionSpec(), PartitionSpec('data')), out_shardings=PartitionSpec('data'))
def step(w, x):
    return w * x


@jax.jit
def double(x):
    return 2 * x


with jax.set_mesh(mesh):
    out = double(step(np.float32(3), np.ones(8, np.float32)))
""",
            run="""\
def check(before, after):
    assert float(after['out'].sum()) == 48
    assert after['out'].sharding.spec == after['PartitionSpec']('data'), after['out'].sharding
""",
        ),
        Example(
            title="positional resources and donation",
            before="""\
import jax
import numpy as np
from jax.experimental import pjit
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ('data',))
step = pjit.pjit(lambda s, b: s + b.sum(), (None, P('data')), None, donate_argnums=(0,))
with mesh:
    text = step.lower(np.float32(0), np.ones(8, np.float32)).compile().as_text()
""",
            after="""\
import jax
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ('data',))
step = jax.jit(lambda s, b: s + b.sum(), in_shardings=(P(), P('data')), out_shardings=P(), donate_argnums=(0,))
with jax.set_mesh(mesh):
    text = step.lower(np.float32(0), np.ones(8, np.float32)).compile().as_text()
""",
            run="""\
def check(before, after):
    assert 'all-reduce' in after['text']
""",
        ),
    ),
    words=frozenset({"pjit"}),
)


# What these answer holds no None.
_WITHOUT_NONE = frozenset(
    {
        "jax.sharding.PartitionSpec",
        "jax.sharding.NamedSharding",
        "flax.linen.get_partition_spec",
        "flax.linen.get_sharding",
        "flax.linen.logical_to_mesh",
        "flax.linen.logical_to_mesh_sharding",
    }
)


@RULE.register(ast.Call)
def pjit_call(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.Call)
    if ctx.qualname(node.func) in PJIT:
        _rewrite(node, ctx, function=node.func, skip=1)
    elif ctx.qualname(node.func) in PARTIALS and node.args and ctx.qualname(node.args[0]) in PJIT:
        _rewrite(node, ctx, function=node.args[0], skip=1 + bool(node.args[1:]))


def _rewrite(node: ast.Call, ctx: FileContext, *, function: ast.expr, skip: int) -> None:
    if ctx.edits.has(ctx.span(node)) or ctx.edits.has(ctx.span(function)):
        return  # the training writer has written this call
    if not is_alias(ctx, function):
        ctx.replace(function, ctx.name("jax.jit"), code=RULE.code)
    arguments = jit_arguments(ctx, node, skip=skip)
    if arguments is None:
        ctx.report(
            node,
            RULE.code,
            "the arguments of pjit are not visible here (*args or **kwargs)",
            severity=Severity.WARNING,
            help="Pass in_shardings and out_shardings by name, with P() where None meant replicated.",
        )
        return
    _report_open_trees(node, ctx)
    text = ctx.source.text
    for argument in arguments:
        if argument.parts is None:  # the argument goes, with the comma before it
            comma = text.rfind(",", 0, argument.where.start)
            ctx.replace(Span(comma, argument.where.end), code=RULE.code)
        elif not _as_it_is(argument, text):
            ctx.replace(argument.where, f"{argument.name}=", *argument.parts, code=RULE.code)


def _as_it_is(argument: JitArgument, text: str) -> bool:
    return (
        len(argument.parts or ()) == 1
        and isinstance((argument.parts or [""])[0], Span)
        and text[argument.where.start :].startswith(f"{argument.name}=")
    )


def _report_open_trees(node: ast.Call, ctx: FileContext) -> None:
    for keyword in node.keywords:
        if keyword.arg in ("in_axis_resources", "out_axis_resources") and isinstance(
            keyword.value, ast.Name | ast.Attribute | ast.Call
        ):
            made: ast.AST | None = keyword.value
            if isinstance(made, ast.Name):
                made = ctx.source.names.single_assignments.get(made.id)
            if isinstance(made, ast.Call) and ctx.qualname(made.func) in _WITHOUT_NONE:
                continue
            ctx.report(
                keyword.value,
                RULE.code,
                f"{ctx.text(keyword.value)} is not a literal: a None inside it meant replicated to pjit and means"
                " 'as it comes' to jax.jit",
                help="Put P() where the tree holds None.",
            )


@RULE.register(ast.Name, ast.Attribute, ends=frozenset({"pjit"}))
def pjit_value(node: ast.AST, ctx: FileContext) -> None:
    """Any other mention: `@pjit`, an argument, a value of a variable."""
    if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load):
        return
    if ctx.qualname(node) != "jax.experimental.pjit.pjit" or is_alias(ctx, node):
        return
    parent = ctx.source.parents.get(node)
    if isinstance(parent, ast.Call) and (parent.func is node or (parent.args and parent.args[0] is node)):
        if parent.func is node or ctx.qualname(parent.func) in PARTIALS:
            return
    ctx.replace(node, ctx.name("jax.jit"), code=RULE.code)
