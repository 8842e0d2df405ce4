"""Linen's boxes around values: made, opened and asked for by hand."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..catalog.shardings import MANUAL
from ..context import FileContext
from ..diagnostics import Severity
from ..edits import Span
from ..linen.axis_rules import argument
from ..nnx.sharding import (
    boxes_beside_variables,
    boxes_remain,
    has_mesh_context,
    in_native_class,
    is_alias,
    stays_linen,
)
from ..rule import Example, Rule
from ..trees import subtree

RULE = Rule(
    code="NNX403",
    name="linen-box",
    summary="an NNX variable carries its metadata itself: boxes become variables",
    what="`nn.unbox(x)` becomes `nnx.as_pure(x)` (of `linen_parity.laid_out(x)` in a program with a mesh),"
    " a box that an initializer returns an annotated value, any other box an"
    " annotated nnx.Param; `isinstance(x, nn.Partitioned)` asks for an nnx.Variable, and there `x.unbox()`, `x.value`,"
    " `x.names` and `x.replace_boxed(v)` say the same of the variable. Subclasses of AxisMetadata are marked.",
    why="Trees of a model's variables hold nnx.Variables where Linen had boxes.",
    how_sure="by construction; the specs and values of a partitioned program are compared on both sides",
    examples=(
        Example(
            title="opening boxes",
            before="""\
import jax
import flax.linen as nn


def plain(variables):
    return jax.tree.leaves(nn.unbox(variables))


def opened(tree):
    return jax.tree.map(
        lambda x: x.unbox() if isinstance(x, nn.Partitioned) else x, tree, is_leaf=lambda x: isinstance(x, nn.Partitioned)
    )
""",
            after="""\
import jax
from flax import nnx


def plain(variables):
    return jax.tree.leaves(nnx.as_pure(variables))


def opened(tree):
    return jax.tree.map(
        lambda x: x.get_value() if isinstance(x, nnx.Variable) else x, tree, is_leaf=lambda x: isinstance(x, nnx.Variable)
    )
""",
            run="""\
def check(before, after):
    import jax, jax.numpy as jnp
    import flax.linen as nn
    from flax import nnx
    boxed = {'w': nn.Partitioned(jnp.arange(3.0), names=('model',)), 'b': jnp.ones(2)}
    held = {'w': nnx.Param(jnp.arange(3.0), out_sharding=('model',), eager_sharding=False), 'b': jnp.ones(2)}
    for name in ('plain', 'opened'):
        want, got = jax.tree.leaves(before[name](boxed)), jax.tree.leaves(after[name](held))
        assert len(want) == len(got) == 2 and all((a == b).all() for a, b in zip(want, got))
    shapes = [after['opened'](jax.eval_shape(lambda: held)), before['opened'](jax.eval_shape(lambda: boxed))]
    assert shapes[0] == shapes[1]
""",
        ),
        Example(
            title="a box that an initializer makes",
            before="""\
import jax.numpy as jnp
import flax.linen as nn


def boxed(key, shape):
    return nn.Partitioned(jnp.ones(shape), names=('data',))
""",
            after="""\
import jax.numpy as jnp
import linen_parity


def boxed(key, shape):
    return linen_parity.partitioned(jnp.ones(shape), names=('data',))
""",
            run="""\
def check(before, after):
    from flax import nnx
    made = nnx.Param(after['boxed'](None, (3,)))
    box = before['boxed'](None, (3,))
    assert made.out_sharding == box.names and (made[...] == box.value).all()
""",
        ),
        Example(
            title="a box of its own kind",
            before="from flax.core import meta\n\n\nclass Box(meta.AxisMetadata):\n    pass\n",
            after=None,
        ),
    ),
    words=frozenset({"flax"}),
)
_BOXES = {"flax.linen.Partitioned": "partitioned", "flax.linen.LogicallyPartitioned": "logically_partitioned"}
_KINDS = frozenset({*_BOXES, "flax.linen.meta.AxisMetadata"})
_KEYS = ("key", "rng", "prng", "k", "rng_key", "prng_key", "_")
# Attributes of a box by what a variable calls them.
_ATTRIBUTES = {"value": ".get_value()", "names": ".out_sharding"}


@RULE.register(ast.Call, ends=frozenset({"unbox", "is_axis_metadata", "isinstance", "Partitioned", "LogicallyPartitioned"}))
def opening(node: ast.AST, ctx: FileContext) -> None:
    """`nn.unbox(x)` and `isinstance(x, nn.Partitioned)`."""
    assert isinstance(node, ast.Call)
    name = ctx.qualname(node.func)
    asks = _asks(node, ctx)
    if not (asks or (name or "").startswith("flax.")) or stays_linen(ctx, node) or boxes_remain(ctx):
        return
    if boxes_beside_variables(ctx):
        _both(node, name, ctx)
    elif name == "flax.linen.unbox" and len(node.args) == 1 and not node.keywords:
        opened: list[str | Span] = [ctx.span(node.args[0])]
        if has_mesh_context(ctx):  # Linen lays out what it opens
            opened = [f"{ctx.parity('laid_out')}(", *opened, ")"]
        ctx.replace(node, f"{ctx.name('flax.nnx.as_pure')}(", *opened, ")", code=RULE.code)
    elif name == "flax.linen.meta.is_axis_metadata" and len(node.args) == 1:
        variable = ctx.name("flax.nnx.Variable")
        ctx.replace(node, "isinstance(", ctx.span(node.args[0]), f", {variable})", code=RULE.code)
    elif asks:
        ctx.replace(node.args[1], ctx.name("flax.nnx.Variable"), code=RULE.code)
    elif name in _BOXES and not is_alias(ctx, node.func):
        _constructor(node, _BOXES[name], ctx)


def _both(node: ast.Call, name: str | None, ctx: FileContext) -> None:
    """Where trees may hold boxes as well as variables: both are opened, other code is for a person to look at."""
    if name == "flax.linen.unbox" and len(node.args) == 1 and not node.keywords:
        if not (isinstance(node.args[0], ast.Call) and ctx.qualname(node.args[0].func) == "flax.nnx.as_pure"):
            ctx.replace(node.args[0], f"{ctx.name('flax.nnx.as_pure')}(", ctx.span(node.args[0]), ")", code=RULE.code)
    elif _asks(node, ctx) or name in _BOXES:
        ctx.report(
            node,
            RULE.code,
            "this code knows boxes only, and models that became nnx.Modules have nnx.Variables in their place",
            severity=Severity.WARNING,
            help="Some annotated classes stay Linen: ask for (nn.Partitioned, nnx.Variable) where both may come.",
        )


def _asks(node: ast.Call, ctx: FileContext) -> bool:
    """`isinstance(x, Box)`, or with a tuple of boxes."""
    if not (isinstance(node.func, ast.Name) and node.func.id == "isinstance" and len(node.args) == 2):
        return False
    kinds = node.args[1]
    asked = kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]
    return bool(asked) and all(ctx.qualname(kind) in _KINDS for kind in asked)


def _constructor(node: ast.Call, helper: str, ctx: FileContext) -> None:
    """`nn.Partitioned(value, names)`: the value of a parameter, or else a leaf of a tree."""
    value, names = argument(node, 0, "value"), argument(node, 1, "names")
    allowed = {"value", "names", "mesh"} | ({"rules"} if helper == "logically_partitioned" else set())
    if value is None or names is None or not {k.arg for k in node.keywords} <= allowed or len(node.args) > 2:
        ctx.report(
            node,
            RULE.code,
            "the arguments of this box are not visible here",
            severity=Severity.WARNING,
            help="Write nnx.Param(value, out_sharding=names).",
        )
        return
    if in_native_class(ctx, node) or _in_initializer(node, ctx):
        ctx.replace(node.func, ctx.parity(helper), code=RULE.code)
        return
    extra: list[str | Span] = []
    for keyword in node.keywords:
        if keyword.arg in ("mesh", "rules"):
            extra += [f", {'sharding_rules' if keyword.arg == 'rules' else 'mesh'}=", ctx.span(keyword.value)]
    # The names are only noted, as in Linen: the value keeps the layout that it has.
    parts = [f"{ctx.name('flax.nnx.Param')}(", ctx.span(value), ", out_sharding=", ctx.span(names), *extra]
    ctx.replace(node, *parts, ", eager_sharding=False)", code=RULE.code)


def _in_initializer(node: ast.AST, ctx: FileContext) -> bool:
    """Does `node` stand in a function of a key and a shape?"""
    for parent in ctx.source.ancestors(node):
        if isinstance(parent, ast.FunctionDef | ast.Lambda):
            names = [a.arg for a in [*parent.args.posonlyargs, *parent.args.args]]
            if names[:1] and names[0] in _KEYS and (len(names) > 1 or parent.args.vararg is not None):
                return True
    return False


@RULE.register(ast.Attribute, ends=frozenset({"unbox", "replace_boxed", *_ATTRIBUTES}))
def attribute(node: ast.AST, ctx: FileContext) -> None:
    """`x.unbox()`, `x.value`, `x.names`, `x.replace_boxed(v)` of an `x` that is asked whether it is a box."""
    assert isinstance(node, ast.Attribute)
    if not isinstance(node.value, ast.Name):
        return
    if not isinstance(node.ctx, ast.Load) or stays_linen(ctx, node) or not _is_asked(node, node.value.id, ctx):
        return
    if boxes_remain(ctx) or boxes_beside_variables(ctx):
        return
    parent = ctx.source.parents.get(node)
    after = Span(ctx.span(node.value).end, ctx.span(node).end)
    if node.attr in _ATTRIBUTES:
        ctx.replace(after, _ATTRIBUTES[node.attr], code=RULE.code)
    elif isinstance(parent, ast.Call) and parent.func is node:
        if node.attr == "unbox":
            ctx.replace(Span(after.start, ctx.span(parent).end), ".get_value()", code=RULE.code)
        else:
            ctx.replace(after, ".replace", code=RULE.code)


def _is_asked(node: ast.AST, name: str, ctx: FileContext) -> bool:
    """Is `name` tested with isinstance for a box, in the innermost function around `node`?"""
    for parent in ctx.source.ancestors(node):
        if isinstance(parent, ast.FunctionDef | ast.Lambda | ast.Module):
            return any(call.args[0].id == name for call in _questions(parent, ctx) if isinstance(call.args[0], ast.Name))
    return False


def _questions(scope: ast.AST, ctx: FileContext) -> Iterator[ast.Call]:
    for found in subtree(scope):
        if isinstance(found, ast.Call) and _asks(found, ctx):
            yield found


@RULE.register(ast.Name, ast.Attribute, ends=frozenset(name.rpartition(".")[2] for name in MANUAL))
def box(node: ast.AST, ctx: FileContext) -> None:
    """What is left."""
    if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load):
        return
    name = ctx.qualname(node) or ""
    advice = MANUAL.get(name)
    if advice is None or stays_linen(ctx, node) or boxes_remain(ctx) or ctx.edits.has(ctx.span(node)) or is_alias(ctx, node):
        return
    if name in _KINDS and (_handled(node, ctx) or boxes_beside_variables(ctx)):
        return
    last = name.rpartition(".")[2]
    if last == "param_with_axes" and (in_native_class(ctx, node) or _drop_alias(node, ctx)):
        return  # the module writer has made the parameter
    if last in ("scan_with_axes", "vmap_with_axes") and (in_native_class(ctx, node) or _drop_alias(node, ctx)):
        return  # as is the transform
    ctx.report(node, RULE.code, f"{last} has no counterpart in NNX: {advice}", severity=Severity.WARNING, help=advice)


def _handled(node: ast.AST, ctx: FileContext) -> bool:
    """Is `node` the class that a call constructs or asks for?"""
    parent = ctx.source.parents.get(node)
    if isinstance(parent, ast.Tuple):
        node, parent = parent, ctx.source.parents.get(parent)
    if not isinstance(parent, ast.Call):
        return False
    return _asks(parent, ctx) or (parent.func is node and ctx.qualname(node) in _BOXES)


def _drop_alias(node: ast.AST, ctx: FileContext) -> bool:
    """Remove `param_with_axes = partitioning.param_with_axes` where every use of it has been rewritten."""
    statement = ctx.source.parents.get(node)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or ctx.source.parents.get(statement) is None:
        return False
    target = statement.targets[0]
    if not isinstance(target, ast.Name) or not isinstance(ctx.source.parents[statement], ast.Module):
        return False
    uses = [n for n in ctx.source.nodes if isinstance(n, ast.Name) and n.id == target.id and n is not target]
    exported = f"{ctx.source.module}.{target.id}" in ctx.plan.aliases.values()
    if exported or not all(in_native_class(ctx, use) for use in uses):
        return False
    return ctx.replace(ctx.source.line_span(statement), code=RULE.code)
