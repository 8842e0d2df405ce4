"""Random streams of stacked modules, which early NNX split when they were called."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..context import FileContext
from ..edits import Span
from ..nnx.program.early import Types, is_self_attribute
from ..nnx.program.sharding import PARTIALS
from ..rule import Example, Rule
from ..trees import subtree

RULE = Rule(
    code="NNX912",
    name="nnx-split-streams",
    summary="stacked modules hold split streams: nnx.split_rngs stands around their construction, not around their calls",
    what="Adds nnx.split_rngs to an nnx.vmap that makes modules of one nnx.Rngs, and takes it away from an nnx.scan or"
    " nnx.vmap that calls modules which were made so, where these keep no Rngs of their own.",
    why="nnx.vmap of flax 0.8 split the streams that it was given. Today each layer has streams of its own, which"
    " are split with it: to split them again raises ValueError.",
    how_sure="the streams are split as before; masks are others, as after every change of flax's streams",
    examples=(
        Example(
            title="a stack of layers",
            before="""\
import jax.numpy as jnp
from flax import nnx


class Stack(nnx.Module):
    def __init__(self, *, rngs: nnx.Rngs):
        @nnx.split_rngs(splits=3)
        @nnx.vmap(axis_size=3)
        def make(rngs: nnx.Rngs):
            return nnx.Dropout(0.5, rngs=rngs)

        self.layers = make(rngs)

    def __call__(self, x):
        @nnx.split_rngs(splits=3)
        @nnx.scan
        def apply(x, layer):
            return layer(x), None

        return apply(x, self.layers)[0]


y = Stack(rngs=nnx.Rngs(0))(jnp.ones(80))
""",
            after="""\
import jax.numpy as jnp
from flax import nnx


class Stack(nnx.Module):
    def __init__(self, *, rngs: nnx.Rngs):
        @nnx.split_rngs(splits=3)
        @nnx.vmap(axis_size=3)
        def make(rngs: nnx.Rngs):
            return nnx.Dropout(0.5, rngs=rngs)

        self.layers = make(rngs)

    def __call__(self, x):
        @nnx.scan
        def apply(x, layer):
            return layer(x), None

        return apply(x, self.layers)[0]


y = Stack(rngs=nnx.Rngs(0))(jnp.ones(80))
""",
            run="def check(before, after):\n    assert set(after['y'].tolist()) == {0, 8}\n",
        ),
        Example(
            title="an nnx.vmap of flax 0.8",
            before="""\
from functools import partial

from flax import nnx


def create(rngs: nnx.Rngs):
    @partial(nnx.vmap, axis_size=3)
    def make(rngs: nnx.Rngs):
        return nnx.Linear(2, 2, rngs=rngs)

    return make(rngs)


kernel = create(nnx.Rngs(0)).kernel
""",
            after="""\
from functools import partial

from flax import nnx


def create(rngs: nnx.Rngs):
    @nnx.split_rngs(splits=3)
    @partial(nnx.vmap, axis_size=3)
    def make(rngs: nnx.Rngs):
        return nnx.Linear(2, 2, rngs=rngs)

    return make(rngs)


kernel = create(nnx.Rngs(0)).kernel
""",
            run="def check(before, after):\n    assert len(set(after['kernel'][:, 0, 0].tolist())) == 3\n",
        ),
    ),
    words=frozenset({"vmap", "split_rngs"}),
)
_SPLIT, _RNGS, _VMAP = "flax.nnx.split_rngs", "flax.nnx.Rngs", "flax.nnx.vmap"
_MAPS = frozenset({_VMAP, "flax.nnx.scan"})


@RULE.register(ast.FunctionDef)
def function(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.FunctionDef)
    kinds = [_decorator(d, ctx) for d in node.decorator_list]
    names = [name for name, _ in kinds]
    if names == [_VMAP]:
        _split_where_it_makes(node, kinds[0][1], ctx)
    elif len(names) == 2 and names[0] == _SPLIT and names[1] in _MAPS:
        _leave_whole_where_it_calls(node, kinds[0][1], ctx)


def _decorator(node: ast.expr, ctx: FileContext) -> tuple[str, ast.Call | None]:
    """The transform of `@nnx.vmap`, `@nnx.vmap(...)` and `@partial(nnx.vmap, ...)`, and the call with its options."""
    if not isinstance(node, ast.Call):
        return ctx.qualname(node) or "", None
    name = ctx.qualname(node.func) or ""
    if name in PARTIALS and len(node.args) == 1:
        return ctx.qualname(node.args[0]) or "", node
    return (name if not node.args else ""), node


def _split_where_it_makes(node: ast.FunctionDef, options: ast.Call | None, ctx: FileContext) -> None:
    given = {k.arg: k.value for k in options.keywords} if options is not None else {}
    parameters = [*node.args.posonlyargs, *node.args.args]
    if set(given) != {"axis_size"} or len(parameters) != 1 or node.args.kwonlyargs or node.args.vararg or node.args.kwarg:
        return
    annotation = parameters[0].annotation
    if annotation is None or ctx.qualname(annotation) != _RNGS:
        return
    calls = list(_calls(node, ctx))
    if calls and all(len(c.args) == 1 and not c.keywords and _whole(c.args[0], ctx) for c in calls):
        first = ctx.source.full_span(node).start
        said = f"@{ctx.name(_SPLIT)}(splits={ctx.text(given['axis_size'])})"
        ctx.insert(first, f"{said}{ctx.source.newline}{ctx.source.indent_of(node)}", code=RULE.code)


def _whole(node: ast.expr, ctx: FileContext) -> bool:
    """Is it an nnx.Rngs that nobody has split: a parameter that is annotated so, or one that is made here?"""
    if isinstance(node, ast.Call):
        return ctx.qualname(node.func) == _RNGS
    if not isinstance(node, ast.Name):
        return False
    for scope in ctx.source.ancestors(node):
        if isinstance(scope, ast.FunctionDef):
            bound = [
                n for n in subtree(scope) if isinstance(n, ast.Name) and n.id == node.id and isinstance(n.ctx, ast.Store)
            ]
            arguments = [*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs]
            mine = next((a for a in arguments if a.arg == node.id), None)
            if mine is not None:
                return not bound and mine.annotation is not None and ctx.qualname(mine.annotation) == _RNGS
            if bound:
                return False
    return False


def _leave_whole_where_it_calls(node: ast.FunctionDef, split: ast.Call | None, ctx: FileContext) -> None:
    cls = next((p for p in ctx.source.ancestors(node) if isinstance(p, ast.ClassDef)), None)
    if split is None or [k.arg for k in split.keywords] != ["splits"] or cls is None or _keeps_streams(ctx):
        return
    calls = list(_calls(node, ctx))
    if not calls or any(call.keywords or any(isinstance(a, ast.Starred) for a in call.args) for call in calls):
        return
    for call in calls:
        stacked = [a for a in call.args if is_self_attribute(a) and _made_split(a, cls, ctx)]
        others = [a for a in call.args if a not in stacked]
        if not stacked or not all(isinstance(a, ast.Name) and "rng" not in a.id.lower() for a in others):
            return
    parameters = [a for a in node.args.args if a.annotation is not None and ctx.qualname(a.annotation) == _RNGS]
    if not parameters:
        whole = ctx.span(split)
        line = ctx.source.text.rfind("\n", 0, whole.start) + 1
        ctx.replace(Span(line, ctx.source.text.index("\n", whole.end) + 1), code=RULE.code)


def _calls(node: ast.FunctionDef, ctx: FileContext) -> Iterator[ast.Call]:
    """The calls of a local function; what is handed on elsewhere counts as a call that shows nothing."""
    scope = ctx.source.parents[node]
    for use in subtree(scope):
        if isinstance(use, ast.Name) and use.id == node.name and isinstance(use.ctx, ast.Load):
            call = ctx.source.parents[use]
            if isinstance(call, ast.Call) and call.func is use:
                yield call
            else:
                yield ast.Call(use, [], [])


def _made_split(attribute: ast.expr, cls: ast.ClassDef, ctx: FileContext) -> bool:
    """Is `self.layers` only ever what a function under nnx.vmap made of split streams?"""
    assert isinstance(attribute, ast.Attribute)
    values = list(Types.of(ctx).attribute_values(cls, attribute.attr))
    return bool(values) and all(isinstance(v, ast.Call) and _makes_split(v, cls, ctx) for v in values)


def _makes_split(call: ast.Call, cls: ast.ClassDef, ctx: FileContext) -> bool:
    for node in subtree(cls):
        if isinstance(node, ast.FunctionDef) and isinstance(call.func, ast.Name) and node.name == call.func.id:
            names = [_decorator(d, ctx)[0] for d in node.decorator_list]
            return names == [_SPLIT, _VMAP]
    return False


def _keeps_streams(ctx: FileContext) -> bool:
    """Does a class of the project keep an Rngs, or one of its streams, as it was given? Flax's own layers fork theirs."""
    sources = ctx.project.files.values() if ctx.project is not None else [ctx.source]
    for node in (node for source in sources for node in source.by_kind.get(ast.Assign, ())):
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Attribute) for t in node.targets):
            value: ast.expr = node.value
            while isinstance(value, ast.Attribute):
                value = value.value
            if isinstance(value, ast.Name) and "rng" in value.id.lower():
                return True
    return False
