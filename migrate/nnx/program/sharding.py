"""Meshes, jit shardings and partitioned initializers: what the sharding rules and the other writers share.

`partitioning_call` is for the module writer, `jit_arguments` and `is_mesh` for the training writer; all only read.
"""

from __future__ import annotations

import ast
import dataclasses
import weakref
from collections.abc import Callable, Iterator

from ...catalog.jax_names import lookup
from ...context import FileContext
from ...edits import Span
from ...linen.project import axis_rules
from ...linen.project.own_boxes import OwnBoxes, own_boxes
from ...names import canonical
from ...plan import Outcome
from ...source import SourceFile
from ...trees import subtree
from .arguments import argument_span, argument_text

Parts = list[str | Span]

MESH_MAKERS = frozenset({"jax.sharding.Mesh", "jax.make_mesh", "jax.experimental.maps.mesh", "jax.sharding.get_mesh"})
PJIT = frozenset({"jax.experimental.pjit.pjit"})
JITS = frozenset({"jax.jit", "flax.nnx.jit", "flax.linen.jit", *PJIT})
# Callables that trace the functions that they are given.
TRACERS = JITS | frozenset(
    {
        "jax.pmap",
        "jax.vmap",
        "jax.grad",
        "jax.value_and_grad",
        "jax.eval_shape",
        "jax.make_jaxpr",
        "jax.checkpoint",
        "jax.remat",
        "jax.shard_map",
        "jax.experimental.shard_map.shard_map",
        "jax.linearize",
        "jax.vjp",
        "jax.jvp",
        "jax.lax.scan",
        "jax.lax.cond",
        "jax.lax.while_loop",
        "jax.lax.fori_loop",
        "jax.lax.map",
        "flax.nnx.grad",
        "flax.nnx.value_and_grad",
        "flax.nnx.eval_shape",
        "flax.nnx.vmap",
        "flax.nnx.scan",
        "flax.nnx.remat",
    }
)
_MODULES = frozenset({"flax.linen.Module", "flax.nnx.Module"})
PARTIALS = frozenset({"functools.partial", "jax.util.partial", "jax.partial", "jax.tree_util.Partial"})


def is_alias(ctx: FileContext, node: ast.AST) -> bool:
    """Is the expression spelled through a name that the module assigns itself (`constrain = nn.with_logical_constraint`)?

    Such an alias is rewritten where it is made, and its uses stay.
    """
    while isinstance(node, ast.Attribute):
        node = node.value
    names = ctx.source.names
    return isinstance(node, ast.Name) and node.id in names.single_assignments and not names.is_hidden(node.id, node)


def today(ctx: FileContext, node: ast.AST) -> str | None:
    """Canonical name of an expression with jax's own renames followed: `maps.Mesh` → `jax.sharding.Mesh`."""
    name = ctx.qualname(node)
    if name is None:
        return None
    found = lookup(name)
    return found[1] if found is not None and found[1] is not None else name


# meshes ----------------------------------------------------------------------------------------------------------
def is_mesh(ctx: FileContext, node: ast.expr) -> bool:
    """Is the expression a device mesh, as far as the text tells?

    A constructor call, a name bound to one, a parameter annotated as one, or, where nothing else is known, a name or
    attribute that ends in `mesh`.
    """
    if isinstance(node, ast.Call):
        name = today(ctx, node.func) or ""
        return name in MESH_MAKERS or (name.startswith(f"{ctx.source.module}.") and name.lower().endswith("mesh"))
    if isinstance(node, ast.NamedExpr):
        return is_mesh(ctx, node.value)
    if isinstance(node, ast.Attribute):
        return node.attr.lower().endswith("mesh") and ctx.source.names.qualname(node) not in ctx.source.names.imports
    if not isinstance(node, ast.Name):
        return False
    bound = bindings(ctx.source).get(node.id, [])
    if any(isinstance(value, ast.Call) and (today(ctx, value.func) or "") in MESH_MAKERS for value in bound):
        return True
    if any(isinstance(value, ast.Call) and _known_elsewhere(today(ctx, value.func)) for value in bound):
        return False
    return node.id.lower().endswith("mesh") and node.id not in ctx.source.names.imports


def _known_elsewhere(name: str | None) -> bool:
    return name is not None and name.partition(".")[0] not in ("jax", "flax") and not name.lower().endswith("mesh")


_bound: weakref.WeakKeyDictionary[SourceFile, dict[str, list[ast.expr]]] = weakref.WeakKeyDictionary()


def bindings(source: SourceFile) -> dict[str, list[ast.expr]]:
    """Values that names are assigned anywhere in the file; an annotated parameter counts as made by its annotation."""
    if source in _bound:
        return _bound[source]
    table: dict[str, list[ast.expr]] = {}
    for node in source.by_kind.get(ast.Assign, ()):
        assert isinstance(node, ast.Assign)
        for target in node.targets:
            if isinstance(target, ast.Name):
                table.setdefault(target.id, []).append(node.value)
    for node in [*source.by_kind.get(ast.AnnAssign, ()), *source.by_kind.get(ast.NamedExpr, ())]:
        assert isinstance(node, ast.AnnAssign | ast.NamedExpr)
        if isinstance(node.target, ast.Name) and node.value is not None:
            table.setdefault(node.target.id, []).append(node.value)
    for node in source.by_kind.get(ast.arg, ()):
        assert isinstance(node, ast.arg)
        if node.annotation is not None:
            table.setdefault(node.arg, []).append(ast.Call(node.annotation, [], []))
    _bound[source] = table
    return table


def mesh_items(ctx: FileContext, node: ast.With | ast.AsyncWith) -> list[ast.withitem]:
    """Items of a `with` whose context is a bare mesh."""
    return [item for item in node.items if is_mesh(ctx, item.context_expr)]


_answers: weakref.WeakKeyDictionary[object, dict[Callable[[FileContext, SourceFile], bool], bool]] = (
    weakref.WeakKeyDictionary()
)


def _anywhere(ctx: FileContext, asks: Callable[[FileContext, SourceFile], bool]) -> bool:
    """Is it true of any file of the project? Asked once of each project."""
    known = _answers.setdefault(ctx.project if ctx.project is not None else ctx, {})
    if asks not in known:
        sources = list(ctx.project.files.values()) if ctx.project is not None else [ctx.source]
        known[asks] = any(asks(ctx, source) for source in sources)
    return known[asks]


def has_mesh_context(ctx: FileContext) -> bool:
    """Does the project put a mesh in force anywhere (`with mesh:`, `jax.set_mesh`)? P in jit's shardings needs one."""
    return _anywhere(ctx, _sets_mesh)


def _sets_mesh(ctx: FileContext, source: SourceFile) -> bool:
    if "mesh" not in source.text.lower():
        return False
    other = ctx if source is ctx.source else FileContext(source, ctx.plan, ctx.options, ctx.project)
    for node in [*source.by_kind.get(ast.With, ()), *source.by_kind.get(ast.AsyncWith, ())]:
        if isinstance(node, ast.With | ast.AsyncWith) and mesh_items(other, node):
            return True
    for node in source.by_kind.get(ast.Call, ()) if {"set_mesh", "enter_context"} & source.words else ():
        if isinstance(node, ast.Call) and today(other, node.func) in ("jax.set_mesh", "jax.sharding.set_mesh"):
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "enter_context":
            if node.args and is_mesh(other, node.args[0]):
                return True
    return False


# traced functions ------------------------------------------------------------------------------------------------
_traced: weakref.WeakKeyDictionary[FileContext, set[str]] = weakref.WeakKeyDictionary()


def _traced_names(ctx: FileContext) -> set[str]:
    if ctx not in _traced:
        names = set()
        for node in ctx.source.by_kind.get(ast.Call, ()):
            assert isinstance(node, ast.Call)
            called = node.func
            given = node.args
            if today(ctx, called) in PARTIALS and given:
                called, given = given[0], given[1:]
            if today(ctx, called) in TRACERS:
                for arg in given:
                    inner = arg
                    while isinstance(inner, ast.Call) and today(ctx, inner.func) in PARTIALS | TRACERS and inner.args:
                        inner = inner.args[0]
                    if isinstance(inner, ast.Name):
                        names.add(inner.id)
        _traced[ctx] = names
    return _traced[ctx]


def in_traced_function(ctx: FileContext, node: ast.AST) -> bool:
    """Does `node` run under jit, grad, eval_shape or inside a module's method? (`jax.set_mesh` raises there.)"""
    for parent in ctx.source.ancestors(node):
        if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef):
            if parent.name in _traced_names(ctx):
                return True
            for decorator in parent.decorator_list:
                called: ast.AST = decorator
                if isinstance(called, ast.Call):
                    first = called.args[0] if called.args and today(ctx, called.func) in PARTIALS else None
                    called = first if first is not None else called.func
                if today(ctx, called) in TRACERS:
                    return True
        elif isinstance(parent, ast.Lambda):
            holder = ctx.source.parents.get(parent)
            if isinstance(holder, ast.Call) and today(ctx, holder.func) in TRACERS:
                return True
        elif isinstance(parent, ast.ClassDef):
            if any((today(ctx, base) or "") in _MODULES for base in parent.bases):
                return True
    return False


# jit -------------------------------------------------------------------------------------------------------------
_OLD_POSITIONS = ("in_axis_resources", "out_axis_resources", "static_argnums", "donate_argnums")
_RENAMED = {"in_axis_resources": "in_shardings", "out_axis_resources": "out_shardings"}
_SHARDINGS = ("in_shardings", "out_shardings")


@dataclasses.dataclass(frozen=True)
class JitArgument:
    """One argument of a pjit call under the name that jax.jit gives it."""

    name: str
    value: ast.expr
    where: Span  # the argument with its keyword, in the old text
    parts: Parts | None  # the new value; None where the argument goes


def jit_arguments(ctx: FileContext, call: ast.Call, *, skip: int = 1) -> list[JitArgument] | None:
    """The arguments of `jax.jit` for a pjit call, its function left out.

    `skip` is the number of leading positional arguments that are not pjit's own: the function; under functools.partial
    pjit itself, and the function where it is given. None where `*args` or `**kwargs` hide what is passed. A None of old
    pjit meant "replicated" under a mesh, which today's jit spells `P()`; its own None means "as it comes".
    """
    if any(isinstance(arg, ast.Starred) for arg in call.args) or any(k.arg is None for k in call.keywords):
        return None
    given: list[tuple[str, ast.expr, int]] = [
        (old, value, argument_span(ctx, call, value).start) for old, value in zip(_OLD_POSITIONS, call.args[skip:])
    ]
    given += [(k.arg or "", k.value, ctx.source.offset(k.lineno, k.col_offset)) for k in call.keywords]
    out = []
    for old, value, start in given:
        name = _RENAMED.get(old, old)
        parts: Parts | None = [ctx.span(value)]
        if name in _SHARDINGS:
            parts = sharding_tree(ctx, value, open_trees=old in _RENAMED and has_mesh_context(ctx) and mixes_none(ctx))
        if parts == [ctx.span(value)]:
            parts = [argument_text(ctx, call, value)]
        out.append(JitArgument(name, value, Span(start, argument_span(ctx, call, value).end), parts))
    return out


def sharding_tree(ctx: FileContext, node: ast.expr, open_trees: bool = False) -> Parts | None:
    """A pjit resource tree as jit takes it; None where the whole argument goes. `open_trees`: trees that are made elsewhere
    may hold a None that means replicated."""
    edits = _tree_edits(ctx, node)
    if open_trees:
        edits += [(tree, f"{ctx.parity('replicated')}({ctx.text(tree)})") for tree in open_resource_trees(ctx, node)]
    if any(target is node for target, _ in edits):
        text = edits[0][1]
        return None if text == "None" else [text]
    parts: Parts = []
    at = ctx.span(node).start
    for target, text in sorted(edits, key=lambda pair: ctx.span(pair[0]).start):
        span = ctx.span(target)
        if span.start > at:
            parts.append(Span(at, span.start))
        parts.append(text)
        at = span.end
    end = ctx.span(node).end
    if end > at:
        parts.append(Span(at, end))
    return parts


def _tree_edits(ctx: FileContext, node: ast.expr) -> list[tuple[ast.expr, str]]:
    if isinstance(node, ast.Constant) and node.value is None:
        return [(node, replicated(ctx))] if has_mesh_context(ctx) else []
    name = ctx.qualname(node)
    if name in ("jax.experimental.pjit.FROM_GDA", "jax.experimental.pjit.AUTO"):
        return [(node, "None")]
    children: list[ast.expr] = []
    if isinstance(node, ast.Tuple | ast.List):
        children = node.elts
    elif isinstance(node, ast.Dict):
        children = node.values
    elif isinstance(node, ast.IfExp):
        children = [node.body, node.orelse]
    elif isinstance(node, ast.Starred):
        children = [node.value]
    return [edit for child in children for edit in _tree_edits(ctx, child)]


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


def open_resource_trees(ctx: FileContext, node: ast.expr) -> list[ast.expr]:
    """The parts of a resource tree that are made elsewhere, and may hold None."""
    if isinstance(node, ast.Tuple | ast.List):
        return [tree for child in node.elts for tree in open_resource_trees(ctx, child)]
    if not isinstance(node, ast.Name | ast.Attribute | ast.Call):
        return []
    if (ctx.qualname(node) or "").startswith("jax.experimental.pjit."):
        return []
    made: ast.AST | None = node
    if isinstance(made, ast.Name):
        made = ctx.source.names.single_assignments.get(made.id)
    return [] if isinstance(made, ast.Call) and ctx.qualname(made.func) in _WITHOUT_NONE else [node]


def mixes_none(ctx: FileContext) -> bool:
    """Does the project choose between a PartitionSpec and None anywhere, as rules for parameters do?"""
    return _anywhere(ctx, _mixes)


def _mixes(ctx: FileContext, source: SourceFile) -> bool:
    other = ctx if source is ctx.source else FileContext(source, ctx.plan, ctx.options, ctx.project)
    if "PartitionSpec" not in source.text and "jax.P" not in source.text:
        return False

    def both(values: list[ast.expr | None]) -> bool:
        found = [v for v in values if v is not None]
        none = any(isinstance(v, ast.Constant) and v.value is None for v in found)
        return none and any(isinstance(v, ast.Call) and today(other, v.func) == "jax.sharding.PartitionSpec" for v in found)

    for node in source.nodes:
        if isinstance(node, ast.IfExp) and both([node.body, node.orelse]):
            return True
        if isinstance(node, ast.Dict) and both(list(node.values)):
            return True
        if isinstance(node, ast.Tuple | ast.List):
            pairs = [e.elts[-1] for e in node.elts if isinstance(e, ast.Tuple) and e.elts]
            if both(list(pairs)):
                return True
        if isinstance(node, ast.FunctionDef) and both([r.value for r in subtree(node) if isinstance(r, ast.Return)]):
            return True
    return False


def replicated(ctx: FileContext) -> str:
    """`P()` under the name that the file gives PartitionSpec."""
    return f"{spec_name(ctx)}()"


def spec_name(ctx: FileContext) -> str:
    """How the file calls PartitionSpec, by whatever path it imports it."""
    for local, target in ctx.source.names.imports.items():
        found = lookup(target)
        if canonical(found[1] if found is not None and found[1] is not None else target) == "jax.sharding.PartitionSpec":
            return local
    return ctx.name("jax.sharding.PartitionSpec")


# partitioned initializers ----------------------------------------------------------------------------------------
def partitioning_call(ctx: FileContext, call: ast.Call) -> Parts | None:
    """What stands for `nn.with_partitioning(init, names)` or `nn.with_logical_partitioning(init, names)` as an NNX
    initializer; None where `call` is neither or hides its arguments. The initializer's and names' spans are kept.

    Linen only boxes the names; NNX shards the value at once and raises without a mesh. So the call goes through the
    parity module, which shards where a mesh is in force and only records the names where none is.
    """
    name = ctx.qualname(call.func)
    if name not in ("flax.linen.with_partitioning", "flax.linen.with_logical_partitioning"):
        return None
    logical = name.endswith("with_logical_partitioning")
    keywords = ("fn", "names", "mesh", "rules") if logical else ("fn", "names", "mesh")
    given = [axis_rules.argument(call, index, keyword) for index, keyword in enumerate(keywords)]
    init, names = given[:2]
    if init is None or names is None or any(k.arg is None or k.arg not in keywords for k in call.keywords):
        return None
    extra: Parts = []
    for keyword, value in zip(keywords[2:], given[2:]):
        if value is not None and not (isinstance(value, ast.Constant) and value.value is None):
            extra += [f", {keyword}=", ctx.span(value)]
    middle = _between(ctx, call, init, names)
    if not logical:
        return [ctx.parity("with_partitioning"), "(", ctx.span(init), middle, ctx.span(names), *extra, ")"]
    resolved = None
    if ctx.project is not None and len(given) == 4 and given[3] is None:
        resolved = axis_rules.resolve_names(ctx.project, names, ctx.source)
    if resolved is not None:
        return [ctx.parity("with_partitioning"), "(", ctx.span(init), middle, repr_spec(resolved), *extra, ")"]
    return [ctx.parity("with_logical_partitioning"), "(", ctx.span(init), middle, ctx.span(names), *extra, ")"]


def _between(ctx: FileContext, call: ast.Call, first: ast.expr, second: ast.expr) -> str | Span:
    """The text between two positional arguments as it stands (line breaks, comments), else a comma."""
    if call.args[:2] == [first, second]:
        between = Span(argument_span(ctx, call, first).end, argument_span(ctx, call, second).start)
        if between.start == ctx.span(first).end and between.end == ctx.span(second).start:
            return between
    return ", "


def repr_spec(spec: axis_rules.Spec) -> str:
    """`(None, 'model')`, `('model',)`, `()`."""
    return repr(tuple(spec))


def _outcomes(ctx: FileContext, node: ast.AST) -> Iterator[Outcome]:
    """What becomes of the Linen classes around `node`, innermost first."""
    for parent in ctx.source.ancestors(node):
        if isinstance(parent, ast.ClassDef):
            name = f"{ctx.source.module}.{parent.name}" if ctx.source.module else parent.name
            plan = ctx.plan.classes.get(name)
            if plan is not None:
                yield plan.outcome


def stays_linen(ctx: FileContext, node: ast.AST) -> bool:
    """Does `node` stand in a Linen class that is bridged or left to a person? Its code goes on meaning Linen."""
    return any(outcome is not Outcome.NATIVE for outcome in _outcomes(ctx, node))


def in_native_class(ctx: FileContext, node: ast.AST) -> bool:
    """Does `node` stand in a Linen class that becomes an nnx.Module?"""
    return any(outcome is Outcome.NATIVE for outcome in _outcomes(ctx, node))


def boxes_remain(ctx: FileContext) -> bool:
    """Do the project's annotated classes all stay Linen? Then trees of their variables hold boxes as before."""
    return _annotated_stay(ctx) == {True}


def boxes_beside_variables(ctx: FileContext) -> bool:
    """Do some of the project's annotated classes stay Linen, and some not? Then a tree may hold boxes or variables."""
    return _annotated_stay(ctx) == {True, False}


def carries_own_boxes(ctx: FileContext) -> bool:
    """Has the project boxes of its own that trees of native modules' variables hold?"""
    found = own_boxes(ctx.project) if ctx.project is not None else OwnBoxes()
    return ctx.source.module in found.reach and found.reason is None and not _any_stays(ctx, found)


def _any_stays(ctx: FileContext, boxes: OwnBoxes) -> bool:
    """Does a class stay Linen that may meet boxes of the program's own?"""
    assert ctx.project is not None
    classes = ctx.project.linen_classes
    staying = (name for name, plan in ctx.plan.classes.items() if plan.outcome is not Outcome.NATIVE)
    return any(name not in classes or classes[name].source.module in boxes.reach for name in staying)


def _annotated_stay(ctx: FileContext) -> set[bool]:
    if ctx.project is None:
        return set()
    annotated = (ctx.plan.classes.get(name) for name in ctx.project.annotated_classes)
    stay = {plan.outcome is not Outcome.NATIVE for plan in annotated if plan is not None}
    boxes = own_boxes(ctx.project)
    return stay | {True} if ctx.source.module in boxes.reach and _any_stays(ctx, boxes) else stay
