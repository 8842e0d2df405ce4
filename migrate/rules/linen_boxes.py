"""Linen's boxes around values: made, opened and asked for by hand."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..catalog.shardings import MANUAL
from ..context import FileContext
from ..diagnostics import Severity
from ..edits import Span
from ..linen.project.axis_rules import argument
from ..linen.project.own_boxes import initializer_around, own_boxes
from ..nnx.program.sharding import (
    bindings,
    boxes_beside_variables,
    boxes_remain,
    carries_own_boxes,
    has_mesh_context,
    in_native_class,
    is_alias,
    stays_linen,
)
from ..rule import Example, Rule
from ..shared_lines import removals
from ..trees import subtree

RULE = Rule(
    code="NNX403",
    name="linen-box",
    summary="an NNX variable carries its metadata itself: boxes become variables",
    what="`nn.unbox(x)` becomes `nnx.as_pure(x)` (of `linen_parity.laid_out(x)` in a program with a mesh),"
    " a box that an initializer returns an annotated value, any other box an"
    " annotated nnx.Param; `isinstance(x, nn.Partitioned)` asks for an nnx.Variable, and there `x.unbox()`, `x.value`,"
    " `x.names` and `x.replace_boxed(v)` say the same of the variable. A box of the program's own that"
    " holds one array stays what it is: `linen_parity.boxed(Box(value))` is how an initializer returns it to a layer.",
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
            title="a box of the program's own",
            before="""\
import jax.numpy as jnp
from flax import linen as nn, struct


class Rated(struct.PyTreeNode, nn.meta.AxisMetadata):
    value: object
    rate: float = struct.field(pytree_node=False)

    def unbox(self):
        return self.value

    def replace_boxed(self, value):
        return self.replace(value=value)

    def add_axis(self, index, params):
        return self

    remove_axis = add_axis


def init(key, shape, dtype=jnp.float32):
    return Rated(jnp.ones(shape, dtype), rate=0.5)
""",
            after="""\
import jax.numpy as jnp
import flax
from flax import struct
import linen_parity


class Rated(struct.PyTreeNode, flax.core.meta.AxisMetadata):
    value: object
    rate: float = struct.field(pytree_node=False)

    def unbox(self):
        return self.value

    def replace_boxed(self, value):
        return self.replace(value=value)

    def add_axis(self, index, params):
        return self

    remove_axis = add_axis


def init(key, shape, dtype=jnp.float32):
    return linen_parity.boxed(Rated(jnp.ones(shape, dtype), rate=0.5))
""",
            run="""\
def check(before, after):
    from flax import nnx
    made = nnx.Param(after['init'](None, (3,)))
    box = before['init'](None, (3,))
    assert made.box.rate == box.rate and (made[...] == box.value).all()
""",
        ),
    ),
    words=frozenset({"flax"}),
)
_BOXES = {"flax.linen.Partitioned": "partitioned", "flax.linen.LogicallyPartitioned": "logically_partitioned"}
_ANY = "flax.linen.meta.AxisMetadata"
_KINDS = frozenset({*_BOXES, _ANY})
# Attributes of a box by what a variable calls them.
_ATTRIBUTES = {"value": ".get_value()", "names": ".out_sharding"}
# What items of trees are asked that may be boxes: helpers that ask others as before.
_OF_ITEMS = {"names": "names_of", "get_partition_spec": "spec_of"}


@RULE.register(ast.Call, ends=frozenset({"unbox", "is_axis_metadata", "isinstance", "Partitioned", "LogicallyPartitioned"}))
def opening(node: ast.AST, ctx: FileContext) -> None:
    """`nn.unbox(x)` and `isinstance(x, nn.Partitioned)`."""
    assert isinstance(node, ast.Call)
    name = ctx.qualname(node.func)
    asks = _asks(node, ctx)
    if not (asks or (name or "").startswith("flax.")) or stays_linen(ctx, node):
        return
    if name in _BOXES and in_native_class(ctx, node) and initializer_around(ctx.source, node) is not None:
        _constructor(node, _BOXES[name], ctx)  # whatever other classes do, this one has variables
        return
    if boxes_remain(ctx):
        return
    if boxes_beside_variables(ctx):
        _both(node, name, ctx)
    elif name == "flax.linen.unbox" and (opened := _opened(node)) is not None and not is_alias(ctx, node.func):
        if _before_variables(node, ctx):
            ctx.replace(node, f"{ctx.parity('unboxed')}(", ctx.span(opened), ")", code=RULE.code)
        else:
            ctx.replace(node, *_opening(ctx.span(opened), ctx), code=RULE.code)
    elif name == "flax.linen.meta.is_axis_metadata" and len(node.args) == 1:
        variable = ctx.name("flax.nnx.Variable")
        ctx.replace(node, "isinstance(", ctx.span(node.args[0]), f", {variable})", code=RULE.code)
    elif asks and _logical_alone(node, ctx):
        ctx.replace(node, f"{ctx.parity('is_logical')}(", ctx.span(node.args[0]), ")", code=RULE.code)
    elif asks:
        ctx.replace(node.args[1], *_kinds(node, ctx), code=RULE.code)
    elif name in _BOXES and not is_alias(ctx, node.func):
        _constructor(node, _BOXES[name], ctx)


def _before_variables(node: ast.AST, ctx: FileContext) -> bool:
    """May what is opened or asked here be something that an initializer has made, or a box of the program's own?"""
    return carries_own_boxes(ctx) or in_native_class(ctx, node) or initializer_around(ctx.source, node) is not None


def _logical_alone(node: ast.Call, ctx: FileContext) -> bool:
    """Are boxes of logical names asked for, where there are others?"""
    asked = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else [node.args[1]]
    others = ctx.project is not None and ctx.project.says("with_partitioning", ".Partitioned(", " Partitioned(")
    return others and all(ctx.qualname(kind) == "flax.linen.LogicallyPartitioned" for kind in asked)


def _kinds(node: ast.Call, ctx: FileContext) -> list[str | Span]:
    """What `isinstance(x, Box)` asks for."""
    variable = ctx.name("flax.nnx.Variable")
    if not _before_variables(node, ctx):
        return [variable]
    asked = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else [node.args[1]]
    kinds: list[str | Span] = []
    for kind in asked:  # boxes of the program's own stay what they are
        if ctx.qualname(kind) == _ANY and carries_own_boxes(ctx):
            kinds += [ctx.name("flax.core.meta.AxisMetadata"), ", "]
        elif ctx.qualname(kind) not in _KINDS:
            kinds += [ctx.span(kind), ", "]
    return ["(", *kinds, f"{variable}, {ctx.name('flax.nnx.VariableMetadata')})"]


def _both(node: ast.Call, name: str | None, ctx: FileContext) -> None:
    """Where trees may hold boxes as well as variables: both are opened, other code is for a person to look at."""
    if name == "flax.linen.unbox" and (opened := _opened(node)) is not None and not is_alias(ctx, node.func):
        if not (isinstance(opened, ast.Call) and ctx.qualname(opened.func) == "flax.nnx.as_pure"):
            ctx.replace(opened, f"{ctx.name('flax.nnx.as_pure')}(", ctx.span(opened), ")", code=RULE.code)
    elif _asks(node, ctx) or name in _BOXES:
        ctx.report(
            node,
            RULE.code,
            "this code knows boxes only, and models that became nnx.Modules have nnx.Variables in their place",
            severity=Severity.WARNING,
            help="Some annotated classes stay Linen: ask for (nn.Partitioned, nnx.Variable) where both may come.",
        )


def _opened(node: ast.Call) -> ast.expr | None:
    """What `nn.unbox(tree)` is given, where that is all."""
    return argument(node, 0, "tree") if len(node.args) + len(node.keywords) == 1 else None


def _opening(tree: str | Span, ctx: FileContext) -> list[str | Span]:
    """The variables of `tree` taken out; under a mesh laid out first, as Linen lays out what it opens."""
    inner: list[str | Span] = [f"{ctx.parity('laid_out')}(", tree, ")"] if has_mesh_context(ctx) else [tree]
    return [f"{ctx.name('flax.nnx.as_pure')}(", *inner, ")"]


@RULE.register(ast.Name, ast.Attribute, ends=frozenset({"unbox"}))
def handed_on(node: ast.AST, ctx: FileContext) -> None:
    """`nn.unbox` that is not called where it stands: handed to a function, or kept under a name."""
    assert isinstance(node, ast.Name | ast.Attribute)
    parent = ctx.source.parents.get(node)
    if ctx.qualname(node) != "flax.linen.unbox" or not isinstance(node.ctx, ast.Load) or is_alias(ctx, node):
        return
    if (isinstance(parent, ast.Call) and parent.func is node) or stays_linen(ctx, node) or boxes_remain(ctx):
        return
    pure = ctx.name("flax.nnx.as_pure")
    opened: list[str | Span] = [pure]
    if boxes_beside_variables(ctx):
        opened = ["lambda tree: ", ctx.span(node), f"({pure}(tree))"]
    elif has_mesh_context(ctx):
        opened = ["lambda tree: ", *_opening("tree", ctx)]
    if _before_variables(node, ctx):
        opened = [ctx.parity("unboxed")]
    stands_alone = isinstance(parent, ast.Call | ast.keyword | ast.Assign | ast.Tuple | ast.List)
    ctx.replace(node, *(opened if stands_alone or len(opened) == 1 else ["(", *opened, ")"]), code=RULE.code)


def _asks(node: ast.Call, ctx: FileContext) -> bool:
    """`isinstance(x, Box)`, or with a tuple of boxes."""
    if not (isinstance(node.func, ast.Name) and node.func.id == "isinstance" and len(node.args) == 2):
        return False
    kinds = node.args[1]
    asked = [ctx.qualname(kind) for kind in (kinds.elts if isinstance(kinds, ast.Tuple) else [kinds])]
    own = own_boxes(ctx.project).names if ctx.project is not None and carries_own_boxes(ctx) else frozenset()
    return not _KINDS.isdisjoint(asked) and all(kind in _KINDS or kind in own for kind in asked)


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
    if in_native_class(ctx, node) or initializer_around(ctx.source, node) is not None:
        ctx.replace(node.func, ctx.parity(helper), code=RULE.code)
        return
    extra: list[str | Span] = []
    for keyword in node.keywords:
        if keyword.arg in ("mesh", "rules"):
            extra += [f", {'sharding_rules' if keyword.arg == 'rules' else 'mesh'}=", ctx.span(keyword.value)]
    # The names are only noted, as in Linen: the value keeps the layout that it has.
    parts = [f"{ctx.name('flax.nnx.Param')}(", ctx.span(value), ", out_sharding=", ctx.span(names), *extra]
    ctx.replace(node, *parts, ", eager_sharding=False)", code=RULE.code)


@RULE.register(ast.Attribute, ends=frozenset({"unbox", "replace_boxed", *_ATTRIBUTES, *_OF_ITEMS}))
def attribute(node: ast.AST, ctx: FileContext) -> None:
    """`x.unbox()`, `x.value`, `x.names`, `x.replace_boxed(v)` of an `x` that is asked whether it is a box."""
    assert isinstance(node, ast.Attribute)
    if node.attr in _OF_ITEMS and _is_item(node.value, ctx):
        _of_item(node, ctx)
    if node.attr == "unbox" and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
        _of_replaced(node, node.value.func, ctx)
    if not isinstance(node.value, ast.Name):
        return
    if not isinstance(node.ctx, ast.Load) or stays_linen(ctx, node) or not _is_asked(node, node.value.id, ctx):
        return
    if boxes_remain(ctx) or boxes_beside_variables(ctx):
        return
    parent = ctx.source.parents.get(node)
    after = Span(ctx.span(node.value).end, ctx.span(node).end)
    if node.attr in _OF_ITEMS and isinstance(parent, ast.Call) and parent.func is node:
        ctx.replace(parent, f"{ctx.parity(_OF_ITEMS[node.attr])}(", ctx.span(node.value), ")", code=RULE.code)
    elif carries_own_boxes(ctx):
        _of_any_box(node, parent, ctx)
    elif node.attr in _ATTRIBUTES:
        ctx.replace(after, _ATTRIBUTES[node.attr], code=RULE.code)
    elif isinstance(parent, ast.Call) and parent.func is node:
        if node.attr == "unbox":
            ctx.replace(Span(after.start, ctx.span(parent).end), ".get_value()", code=RULE.code)
        else:
            ctx.replace(after, ".replace", code=RULE.code)


def _is_item(node: ast.expr, ctx: FileContext) -> bool:
    """`params["Dense_0"]["kernel"]`, or a name for it."""
    if isinstance(node, ast.Name):
        return any(
            _is_item(value, ctx) for value in bindings(ctx.source).get(node.id, ()) if isinstance(value, ast.Subscript)
        )
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)


def _of_item(node: ast.Attribute, ctx: FileContext) -> None:
    """`params["Dense_0"]["kernel"].names` and `.get_partition_spec()`."""
    if ctx.project is None or not isinstance(node.ctx, ast.Load) or not (ctx.project.annotated_classes or _makes_boxes(ctx)):
        return
    if stays_linen(ctx, node) or boxes_remain(ctx):
        return
    parent = ctx.source.parents.get(node)
    called = isinstance(parent, ast.Call) and parent.func is node and not parent.args and not parent.keywords
    if called != (node.attr == "names"):
        whole = parent if called and parent is not None else node
        ctx.replace(whole, f"{ctx.parity(_OF_ITEMS[node.attr])}(", ctx.span(node.value), ")", code=RULE.code)


def _of_replaced(node: ast.Attribute, before: ast.Attribute, ctx: FileContext) -> None:
    """`x.replace_boxed(v).unbox()`, of an `x` that is asked."""
    call = ctx.source.parents.get(node)
    if before.attr != "replace_boxed" or not isinstance(before.value, ast.Name) or not isinstance(call, ast.Call):
        return
    if (
        stays_linen(ctx, node)
        or boxes_remain(ctx)
        or boxes_beside_variables(ctx)
        or not _is_asked(node, before.value.id, ctx)
    ):
        return
    if carries_own_boxes(ctx):
        ctx.replace(call, f"{ctx.parity('unboxed')}(", ctx.span(node.value), ")", code=RULE.code)
    else:
        ctx.replace(Span(ctx.span(node.value).end, ctx.span(call).end), ".get_value()", code=RULE.code)


def _makes_boxes(ctx: FileContext) -> bool:
    return any(isinstance(n, ast.Call) and ctx.qualname(n.func) in _BOXES for n in ctx.source.by_kind.get(ast.Call, ()))


def _of_any_box(node: ast.Attribute, parent: ast.AST | None, ctx: FileContext) -> None:
    """`x.unbox()` and `x.replace_boxed(v)` of an `x` that may be a variable, or a box of the program's own."""
    if isinstance(parent, ast.Call) and parent.func is node and node.attr == "unbox":
        ctx.replace(parent, f"{ctx.parity('unboxed')}(", ctx.span(node.value), ")", code=RULE.code)
    elif isinstance(parent, ast.Call) and parent.func is node and node.attr == "replace_boxed" and len(parent.args) == 1:
        value = ctx.span(parent.args[0])
        ctx.replace(parent, f"{ctx.parity('replace_boxed')}(", ctx.span(node.value), ", ", value, ")", code=RULE.code)


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
    if name == _ANY and own_boxes(ctx.project).names if ctx.project is not None else False:
        _own_base(node, ctx)
        return
    last = name.rpartition(".")[2]
    if last == "param_with_axes" and (in_native_class(ctx, node) or _drop_alias(node, ctx)):
        return  # the module writer has made the parameter
    if last in ("scan_with_axes", "vmap_with_axes") and (in_native_class(ctx, node) or _drop_alias(node, ctx)):
        return  # as is the transform
    ctx.report(node, RULE.code, f"{last} has no counterpart in NNX: {advice}", severity=Severity.WARNING, help=advice)


@RULE.register(ast.Module)
def own(node: ast.AST, ctx: FileContext) -> None:
    """Boxes of the program's own that initializers return: `linen_parity.boxed(Scaled(value, 0.5))`."""
    if not carries_own_boxes(ctx) or ctx.project is None:
        return
    names = own_boxes(ctx.project).names
    for call in ctx.source.by_kind.get(ast.Call, ()):
        assert isinstance(call, ast.Call)
        if ctx.qualname(call.func) in names and not stays_linen(ctx, call):
            ctx.replace(call, f"{ctx.parity('boxed')}(", ctx.span(call), ")", code=RULE.code)


def _own_base(node: ast.Name | ast.Attribute, ctx: FileContext) -> None:
    """What the program's own boxes derive from is flax's own, of no module: it stays, under a name that is not Linen's."""
    if (ctx.source.names.raw_qualname(node) or "").startswith("flax.linen"):
        ctx.replace(node, ctx.name("flax.core.meta.AxisMetadata"), code=RULE.code)


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
    name = f"{ctx.source.module}.{target.id}"
    exported = name in ctx.plan.aliases.values() or name in ctx.plan.kept
    if exported or not all(in_native_class(ctx, use) for use in uses):
        return False
    return ctx.replace(next(removals(ctx.source, [statement])), code=RULE.code)
