"""pjit → jax.jit, as call, decorator, functools.partial or value."""

from __future__ import annotations

import ast

from ..context import FileContext
from ..diagnostics import Severity
from ..edits import Span
from ..nnx.program.arguments import drop_argument
from ..nnx.program.sharding import (
    PARTIALS,
    PJIT,
    JitArgument,
    has_mesh_context,
    is_alias,
    jit_arguments,
    mixes_none,
    open_resource_trees,
)
from ..rule import Example, Rule

RULE = Rule(
    code="NNX501",
    name="pjit",
    summary="pjit is jax.jit, and its axis resources are in_shardings and out_shardings",
    what="Rewrites pjit calls, decorators, partials and references. A literal None in its resources becomes P(),"
    " as does one in a tree that is made elsewhere, when the program runs, in projects that choose between a spec and None.",
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


@functools.partial(
    jax.jit, in_shardings=(PartitionSpec(), PartitionSpec('data')), out_shardings=PartitionSpec('data')
)
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
step = jax.jit(
    lambda s, b: s + b.sum(), in_shardings=(P(), P('data')), out_shardings=P(), donate_argnums=(0,)
)
with jax.set_mesh(mesh):
    text = step.lower(np.float32(0), np.ones(8, np.float32)).compile().as_text()
""",
            run="""\
def check(before, after):
    assert 'all-reduce' in after['text']
""",
        ),
        Example(
            title="trees that hold None",
            before="""\
import jax
import numpy as np
from jax.experimental.pjit import pjit
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ('data',))
params = {'w': np.ones((8, 2), np.float32), 'b': np.ones(8, np.float32)}
specs = {name: P('data') if value.ndim == 2 else None for name, value in params.items()}
move = pjit(lambda p, b: (p, b), in_axis_resources=None, out_axis_resources=(specs, None))
with mesh:
    moved, _ = move(params, np.ones(8))
""",
            after="""\
import jax
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P
import linen_parity

mesh = Mesh(np.array(jax.devices()), ('data',))
params = {'w': np.ones((8, 2), np.float32), 'b': np.ones(8, np.float32)}
specs = {name: P('data') if value.ndim == 2 else None for name, value in params.items()}
move = jax.jit(
    lambda p, b: (p, b), in_shardings=P(), out_shardings=(linen_parity.replicated(specs), P())
)
with jax.set_mesh(mesh):
    moved, _ = move(params, np.ones(8))
""",
            run="""\
def check(before, after):
    P = after['P']
    assert after['moved']['w'].sharding.spec == P('data') and after['moved']['b'].sharding.spec == P()
""",
        ),
    ),
    words=frozenset({"pjit"}),
)


@RULE.register(ast.Call, words=frozenset({"pjit"}), ends=frozenset({"pjit", "partial", "Partial"}))
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
        if argument.parts is None:
            drop_argument(ctx, node, argument.value, RULE.code)
        elif not _as_it_is(argument, text):
            ctx.replace(argument.where, f"{argument.name}=", *argument.parts, code=RULE.code)


def _as_it_is(argument: JitArgument, text: str) -> bool:
    return (
        len(argument.parts or ()) == 1
        and isinstance((argument.parts or [""])[0], Span)
        and text[argument.where.start :].startswith(f"{argument.name}=")
    )


def _report_open_trees(node: ast.Call, ctx: FileContext) -> None:
    if has_mesh_context(ctx) and mixes_none(ctx):
        return  # None in them becomes P() when the program runs
    for keyword in node.keywords:
        if keyword.arg in ("in_axis_resources", "out_axis_resources"):
            for tree in open_resource_trees(ctx, keyword.value):
                ctx.report(
                    tree,
                    RULE.code,
                    f"{ctx.text(tree)} is not a literal: a None inside it meant replicated to pjit and means"
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
