"""jax.experimental.shard_map → jax.shard_map."""

from __future__ import annotations

import ast

from ..context import FileContext
from ..diagnostics import Severity
from ..edits import Span
from ..nnx.program.arguments import argument_span, argument_text, drop_argument, function_first
from ..nnx.program.sharding import PARTIALS, is_alias
from ..rule import Example, Rule
from ..trees import subtree

RULE = Rule(
    code="NNX503",
    name="experimental-shard-map",
    summary="shard_map is jax.shard_map, with check_vma for check_rep and axis_names for auto",
    what="Rewrites calls, partials and references; positional mesh and specs become keywords. Trailing None in a"
    " literal out_specs goes where the function scatters a dimension away: P('i', None) means P('i').",
    why="The experimental module is deprecated since jax 0.8.0, and jax.shard_map takes its arguments by keyword only."
    " It also refuses a spec with more entries than the output has dimensions, even if they are None.",
    how_sure="by construction; check_vma tracks more than check_rep did and may ask for jax.lax.pcast in scan carries",
    examples=(
        Example(
            title="call",
            before="""\
import jax
import numpy as np
from jax.experimental.shard_map import shard_map
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ('i',))
f = shard_map(lambda x: jax.lax.psum(x, 'i'), mesh, in_specs=P('i'), out_specs=P(), check_rep=False)
y = f(np.arange(8.0))
""",
            after="""\
import jax
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ('i',))
f = jax.shard_map(
    lambda x: jax.lax.psum(x, 'i'), mesh=mesh, in_specs=P('i'), out_specs=P(), check_vma=False
)
y = f(np.arange(8.0))
""",
            run="def check(before, after):\n    assert float(before['y'][0]) == float(after['y'][0]) == 28\n",
        ),
        Example(
            title="partial and auto axes",
            before="""\
from functools import partial

import jax
import numpy as np
from jax.experimental.shard_map import shard_map
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ('i', 'j'))


@jax.jit
@partial(shard_map, mesh=mesh, in_specs=P('i'), out_specs=P('i'), auto={'j'})
def f(x):
    return 2 * x


y = f(np.arange(8.0))
""",
            after="""\
from functools import partial

import jax
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ('i', 'j'))


@jax.jit
@partial(
    jax.shard_map,
    mesh=mesh,
    in_specs=P('i'),
    out_specs=P('i'),
    axis_names=set(mesh.axis_names) - {'j'},
)
def f(x):
    return 2 * x


y = f(np.arange(8.0))
""",
            run="def check(before, after):\n    assert float(after['y'].sum()) == 56\n",
        ),
        Example(
            title="a scattered dimension",
            before="""\
import functools
import jax
import numpy as np
from jax.experimental.shard_map import shard_map
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ('i', 'j'))


@functools.partial(shard_map, mesh=mesh, in_specs=P('i', None), out_specs=P('i', None))
def scatter(x):
    return jax.lax.psum_scatter(x, 'i', scatter_dimension=1)


y = scatter(np.arange(16.0).reshape(4, 4))
""",
            after="""\
import functools
import jax
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ('i', 'j'))


@functools.partial(jax.shard_map, mesh=mesh, in_specs=P('i', None), out_specs=P('i'))
def scatter(x):
    return jax.lax.psum_scatter(x, 'i', scatter_dimension=1)


y = scatter(np.arange(16.0).reshape(4, 4))
""",
            run="""\
def check(before, after):
    assert [float(v) for v in after['y']] == [24, 28, 32, 36]
""",
        ),
    ),
    words=frozenset({"shard_map"}),
)

_OLD = "jax.experimental.shard_map.shard_map"
_POSITIONS = ("mesh", "in_specs", "out_specs", "check_rep", "auto")
_TIGHT = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Set, ast.SetComp)  # need no brackets in a difference


@RULE.register(ast.Call, words=frozenset({"shard_map"}), ends=frozenset({"shard_map", "partial", "Partial"}))
def shard_map_call(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.Call)
    if ctx.qualname(node.func) == _OLD:
        function, own = node.func, node.args[1:]
        mapped = node.args[0] if node.args else None
    elif ctx.qualname(node.func) in PARTIALS and node.args and ctx.qualname(node.args[0]) == _OLD:
        function, own = node.args[0], node.args[2:]
        mapped = node.args[1] if len(node.args) > 1 else None
    else:
        return
    if ctx.edits.has(ctx.span(function)):
        return
    if not is_alias(ctx, function):
        ctx.replace(function, ctx.name("jax.shard_map"), code=RULE.code)
    function_first(ctx, node, "f", len(node.args) - len(own), RULE.code)
    if any(isinstance(a, ast.Starred) for a in own) or any(k.arg is None for k in node.keywords):
        ctx.report(
            node,
            RULE.code,
            "the arguments of shard_map are not visible here (*args or **kwargs)",
            severity=Severity.WARNING,
            help="jax.shard_map takes mesh, in_specs and out_specs by keyword, check_vma for check_rep.",
        )
        return
    given = [(name, value, argument_span(ctx, node, value).start) for name, value in zip(_POSITIONS, own)]
    given += [(k.arg or "", k.value, ctx.source.offset(k.lineno, k.col_offset)) for k in node.keywords if k.arg != "f"]
    mesh = next((value for name, value, _ in given if name == "mesh"), None)
    for name, value, start in given:
        _argument(node, name, value, Span(start, argument_span(ctx, node, value).end), mesh, ctx)
        if name == "out_specs" and _scatters(_function(node, mapped, ctx), ctx):
            _strip(value, ctx)


def _argument(node: ast.Call, name: str, value: ast.expr, where: Span, mesh: ast.expr | None, ctx: FileContext) -> None:
    if name == "auto":
        if isinstance(value, ast.Call) and not value.args and not value.keywords:  # frozenset()
            drop_argument(ctx, node, value, RULE.code)
        elif mesh is not None:
            said = ctx.text(mesh) if isinstance(mesh, _TIGHT) else f"({ctx.text(mesh)})"
            taken = [ctx.span(value)] if isinstance(value, _TIGHT) else ["(", ctx.span(value), ")"]
            ctx.replace(where, f"axis_names=set({said}.axis_names) - ", *taken, code=RULE.code)
        return
    new = "check_vma" if name == "check_rep" else name
    if not ctx.source.text[where.start :].startswith(f"{new}="):
        ctx.replace(where, f"{new}=", argument_text(ctx, node, value), code=RULE.code)


def _function(node: ast.Call, mapped: ast.expr | None, ctx: FileContext) -> ast.AST | None:
    """The function that is mapped: the one that the call decorates, a lambda, or one of the module's by name."""
    if mapped is None:
        holder = ctx.source.parents.get(node)
        return holder if isinstance(holder, ast.FunctionDef) else None
    if isinstance(mapped, ast.Name):
        return ctx.source.names.definitions.get(mapped.id)
    return mapped


def _scatters(function: ast.AST | None, ctx: FileContext) -> bool:
    """Does it call psum_scatter in the form that removes the scattered dimension?"""
    for node in subtree(function) if function is not None else ():
        if isinstance(node, ast.Call) and ctx.qualname(node.func) == "jax.lax.psum_scatter":
            tiled = [k.value for k in node.keywords if k.arg == "tiled"]
            if not tiled or (isinstance(tiled[0], ast.Constant) and tiled[0].value is False):
                return True
    return False


def _strip(specs: ast.expr, ctx: FileContext) -> None:
    for node in subtree(specs):
        if not isinstance(node, ast.Call) or ctx.qualname(node.func) != "jax.sharding.PartitionSpec":
            continue
        kept = list(node.args)
        while kept and isinstance(kept[-1], ast.Constant) and kept[-1].value is None:
            kept.pop()
        if len(kept) < len(node.args) and kept:
            for argument in node.args[len(kept) :]:
                drop_argument(ctx, node, argument, RULE.code)
            ctx.report(node, RULE.code, "a trailing None names a dimension that psum_scatter removes; it was dropped")


@RULE.register(ast.Name, ast.Attribute, ends=frozenset({"shard_map"}))
def shard_map_value(node: ast.AST, ctx: FileContext) -> None:
    if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load):
        return
    if ctx.qualname(node) != _OLD or is_alias(ctx, node):
        return
    parent = ctx.source.parents.get(node)
    if isinstance(parent, ast.Call) and (parent.func is node or ctx.qualname(parent.func) in PARTIALS):
        return
    ctx.replace(node, ctx.name("jax.shard_map"), code=RULE.code)
