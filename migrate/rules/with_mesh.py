"""`with mesh:` → `with jax.set_mesh(mesh):`, and the other ways of entering a mesh."""

from __future__ import annotations

import ast

from ..context import FileContext
from ..diagnostics import Severity
from ..edits import Span
from ..nnx.program.sharding import in_traced_function, is_mesh, mesh_items, today
from ..rule import Example, Rule

RULE = Rule(
    code="NNX502",
    name="with-mesh",
    summary="a mesh is put in force with jax.set_mesh",
    what="Rewrites `with mesh:`, `mesh.__enter__()` and `stack.enter_context(mesh)`.",
    why="On today's stack `with mesh:` no longer reaches the annotations of Linen or NNX: logical constraints turn into"
    " no-ops without a word, and an annotated Param raises. It also gives PartitionSpecs in jit's shardings no mesh.",
    how_sure="by construction; inside a traced function, where jax.set_mesh raises, the context stays and is reported",
    examples=(
        Example(
            title="with",
            before="""\
import jax
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ('data', 'model'))
with mesh:
    y = jax.jit(lambda x: jax.lax.with_sharding_constraint(x, P('data')))(np.ones((4, 8)))
""",
            after="""\
import jax
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ('data', 'model'))
with jax.set_mesh(mesh):
    y = jax.jit(lambda x: jax.lax.with_sharding_constraint(x, P('data')))(np.ones((4, 8)))
""",
            run="""\
def check(before, after):
    assert before['y'].sharding.is_equivalent_to(after['y'].sharding, 2)
""",
        ),
        Example(
            title="a mesh that is made and named in the with",
            before="""\
import jax
import numpy as np
from jax.experimental import maps

devices = np.array(jax.devices())
with maps.Mesh(devices, ('data',)) as mesh:
    names = mesh.axis_names
with maps.mesh(devices, ('x',)), open('/dev/null') as out:
    pass
""",
            after="""\
import jax
import numpy as np

devices = np.array(jax.devices())
mesh = jax.sharding.Mesh(devices, ('data',))
with jax.set_mesh(mesh):
    names = mesh.axis_names
with jax.set_mesh(jax.sharding.Mesh(devices, ('x',))), open('/dev/null') as out:
    pass
""",
            run="def check(before, after):\n    assert after['names'] == ('data',)\n",
        ),
        Example(
            title="ExitStack and a conditional context",
            before="""\
import contextlib
import jax
import numpy as np
from jax.sharding import Mesh

mesh = Mesh(np.array(jax.devices()), ('data',))
with contextlib.ExitStack() as stack:
    stack.enter_context(mesh)
with mesh if mesh is not None else contextlib.nullcontext():
    pass
""",
            after="""\
import contextlib
import jax
import numpy as np
from jax.sharding import Mesh

mesh = Mesh(np.array(jax.devices()), ('data',))
with contextlib.ExitStack() as stack:
    stack.enter_context(jax.set_mesh(mesh))
with jax.set_mesh(mesh) if mesh is not None else contextlib.nullcontext():
    pass
""",
            run="def check(before, after):\n    assert after['mesh'].size == 8\n",
        ),
        Example(
            title="inside a traced function",
            before="""\
import jax


@jax.jit
def f(x, mesh):
    with mesh:
        return x
""",
            after=None,
        ),
    ),
)


@RULE.register(ast.With, ast.AsyncWith)
def with_mesh(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.With | ast.AsyncWith)
    items = mesh_items(ctx, node)
    for item in node.items:
        arms = [item.context_expr.body, item.context_expr.orelse] if isinstance(item.context_expr, ast.IfExp) else []
        for arm in arms:
            if is_mesh(ctx, arm):
                _wrap(arm, ctx)
    if not items:
        return
    if in_traced_function(ctx, node):
        ctx.report(
            node,
            RULE.code,
            "the mesh is entered inside a traced function, where jax.set_mesh raises: the context is left as it is",
            severity=Severity.WARNING,
            help="Enter the mesh around the call of the jitted function, or pass NamedShardings to the constraints.",
        )
        return
    for item in items:
        _item(node, item, ctx)


def _item(node: ast.With | ast.AsyncWith, item: ast.withitem, ctx: FileContext) -> None:
    target = item.optional_vars
    if target is None:
        _wrap(item.context_expr, ctx)
        return
    statement = ctx.source.span(node)
    line = ctx.source.text.rfind("\n", 0, statement.start) + 1
    indent = ctx.source.text[line : statement.start]
    if not isinstance(target, ast.Name) or len(node.items) != 1 or indent.strip():
        ctx.report(
            node,
            RULE.code,
            "jax.set_mesh does not hand the mesh to `as`",
            severity=Severity.WARNING,
            help="Assign the mesh to a name first, then enter `jax.set_mesh(name)`.",
        )
        return
    head = Span(ctx.span(item.context_expr).start, ctx.span(target).end)
    made: list[str | Span] = [ctx.span(item.context_expr)]
    if today(ctx, getattr(item.context_expr, "func", item.context_expr)) == "jax.experimental.maps.mesh":
        made = _old_mesh(item.context_expr, ctx)
    if isinstance(item.context_expr, ast.Name) and item.context_expr.id == target.id:
        ctx.replace(head, f"{ctx.name('jax.set_mesh')}({target.id})", code=RULE.code)
        return
    whole = Span(statement.start, head.end)
    keyword = ctx.source.text[statement.start : head.start]
    set_mesh = f"{ctx.name('jax.set_mesh')}({target.id})"
    if isinstance(item.context_expr, ast.Name):
        ctx.replace(whole, f"{target.id} = ", *made, f"{ctx.source.newline}{indent}{keyword}{set_mesh}", code=RULE.code)
    else:
        ctx.replace(whole, f"{target.id} = ", *made, f"{ctx.source.newline}{indent}{keyword}{set_mesh}", code=RULE.code)


def _wrap(expr: ast.expr, ctx: FileContext) -> None:
    set_mesh = ctx.name("jax.set_mesh")
    if isinstance(expr, ast.Call) and today(ctx, expr.func) == "jax.experimental.maps.mesh":
        ctx.replace(expr, f"{set_mesh}(", *_old_mesh(expr, ctx), ")", code=RULE.code)
    else:
        ctx.replace(expr, f"{set_mesh}(", ctx.span(expr), ")", code=RULE.code)


def _old_mesh(expr: ast.expr, ctx: FileContext) -> list[str | Span]:
    """`maps.mesh(devices, names)` → `Mesh(devices, names)`."""
    assert isinstance(expr, ast.Call)
    return [ctx.name("jax.sharding.Mesh"), Span(ctx.span(expr.func).end, ctx.span(expr).end)]


@RULE.register(ast.Call, ends=frozenset({"enter_context", "__enter__"}))
def entered(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.Call)
    func = node.func
    if not isinstance(func, ast.Attribute):
        return
    if func.attr == "enter_context" and len(node.args) == 1 and is_mesh(ctx, node.args[0]):
        _wrap(node.args[0], ctx)
    elif func.attr == "__enter__" and is_mesh(ctx, func.value):
        if "__exit__" in ctx.source.text:
            ctx.report(
                node,
                RULE.code,
                "a mesh is entered and left by hand",
                severity=Severity.WARNING,
                help="Use `with jax.set_mesh(mesh):`, or `jax.set_mesh(mesh)` alone to put it in force for good.",
            )
        else:
            ctx.replace(node, f"{ctx.name('jax.set_mesh')}(", ctx.span(func.value), ")", code=RULE.code)
