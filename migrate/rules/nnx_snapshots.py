"""nnx.state, nnx.split and nnx.merge, which hold the module's own Variables since flax 0.12."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from ..context import FileContext
from ..nnx.program.arguments import argument_span
from ..nnx.program.early import is_early
from ..nnx.program.sharding import PARTIALS, TRACERS, in_traced_function, today
from ..rule import Example, Rule
from ..trees import subtree

RULE = Rule(
    code="NNX909",
    name="nnx-snapshot",
    summary="a state that is kept is taken of a clone, and a model is merged of copies",
    what="`best = nnx.state(model)` becomes `nnx.state(nnx.clone(model))` where the model is used afterwards, or is known by"
    " another name, likewise nnx.split; `nnx.merge(graphdef, state)` gets `copy=True` where the state is used again.",
    why="A State held values of its own. Since flax 0.12 it holds the module's Variables: a state that was put away would"
    " follow the training, and to put it back would change nothing.",
    how_sure="by construction; states that are only read where they are taken are left",
    examples=(
        Example(
            title="the best weights",
            before="""\
import jax.numpy as jnp
import optax
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.layer = nnx.Linear(2, 2, rngs=rngs)
        self.norm = nnx.BatchNorm(2, rngs=rngs)

    def __call__(self, x):
        return self.norm(self.layer(x))


model = Net(nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.sgd(0.1))
best = nnx.state(model)
first = model.layer.kernel.value
optimizer.update(nnx.grad(lambda m: m(jnp.eye(2))[0, 0])(model))
changed = bool((model.layer.kernel.value != first).any())
nnx.update(model, best)
restored = bool((model.layer.kernel.value == first).all())
graphdef, state = nnx.split(model)
other = nnx.merge(graphdef, state)
other(jnp.eye(2))
again = nnx.merge(graphdef, state)
""",
            after="""\
import jax.numpy as jnp
import optax
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.layer = nnx.Linear(2, 2, rngs=rngs)
        self.norm = nnx.BatchNorm(2, rngs=rngs)

    def __call__(self, x):
        return self.norm(self.layer(x))


model = Net(nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)
best = nnx.state(nnx.clone(model))
first = model.layer.kernel[...]
optimizer.update(model, nnx.grad(lambda m: m(jnp.eye(2))[0, 0])(model))
changed = bool((model.layer.kernel[...] != first).any())
nnx.update(model, best)
restored = bool((model.layer.kernel[...] == first).all())
graphdef, state = nnx.split(model)
other = nnx.merge(graphdef, state, copy=True)
other(jnp.eye(2))
again = nnx.merge(graphdef, state)
""",
            run="""\
def check(before, after):
    assert after['changed'] and after['restored']
    assert (after['again'].norm.mean[...] != after['other'].norm.mean[...]).any()
""",
        ),
    ),
    words=frozenset({"state", "split", "merge"}),
)
_TAKE = frozenset({"flax.nnx.state", "flax.nnx.split"})
# What a module may be given to afterwards without a change of its own Variables that a kept state would notice.
_READ = frozenset({*_TAKE, "flax.nnx.update", "flax.nnx.display", "flax.nnx.graphdef", "flax.nnx.clone"})
_OF_ARRAYS = frozenset({"value", "to_pure_dict"})
_LIBRARIES = ("jax.", "flax.", "optax.", "orbax.", "numpy.")
_HANDING_ON = (
    *(ast.Tuple, ast.List, ast.Dict, ast.Set, ast.IfExp, ast.BoolOp, ast.Starred, ast.keyword, ast.Call),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)
_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@RULE.register(ast.Call, ends=frozenset({"state", "split"}))
def take(node: ast.AST, ctx: FileContext) -> None:
    """`nnx.state(model)` that is put away."""
    assert isinstance(node, ast.Call)
    if ctx.qualname(node.func) not in _TAKE or not node.args or not is_early(ctx):
        return
    model = node.args[0]
    kept = _kept(node, ctx)
    if kept is None or not _is_place(model):
        return
    split = ctx.qualname(node.func) == "flax.nnx.split"  # a model that is merged of it may change its Variables, too
    names = _names_of(kept)
    if isinstance(kept, ast.Return):
        changed = _is_given(model, node, ctx) and not in_traced_function(ctx, node)
    else:
        changed = any(not _reads(use, ctx, split) for use in _later(model, kept, ctx))
        outlives = not names or any(_outlives(use, kept, ctx) for name in names for use in _later(name, kept, ctx))
        changed |= outlives and _is_given(model, node, ctx) and not (names and in_traced_function(ctx, node))
    if changed:
        ctx.replace(model, f"{ctx.name('flax.nnx.clone')}(", ctx.span(model), ")", code=RULE.code)


@RULE.register(ast.Call, ends=frozenset({"merge"}))
def merge(node: ast.AST, ctx: FileContext) -> None:
    """`nnx.merge(graphdef, state)` of a state that is used again."""
    assert isinstance(node, ast.Call)
    if ctx.qualname(node.func) != "flax.nnx.merge" or not is_early(ctx) or len(node.args) < 2:
        return
    if any(k.arg in ("copy", None) for k in node.keywords) or any(isinstance(a, ast.Starred) for a in node.args):
        return
    statement = ctx.source.statement_of(node)
    states = [a for a in node.args[1:] if _is_place(a)]
    if any(not _own(state, node, ctx) and any(True for _ in _again(state, node, statement, ctx)) for state in states):
        ctx.insert(argument_span(ctx, node, node.args[-1]).end, ", copy=True", code=RULE.code)


def _is_place(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _kept(node: ast.expr, ctx: FileContext) -> ast.stmt | None:
    """The statement that puts a value away or returns it: alone, a part of it, among others, or through a call."""
    inner: ast.AST = node
    for parent in ctx.source.ancestors(node):
        if isinstance(parent, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr | ast.Return | ast.Yield):
            return ctx.source.statement_of(node)
        if isinstance(parent, ast.Attribute):
            if parent.attr in _OF_ARRAYS:
                return None
        elif isinstance(parent, ast.Call) and inner is not parent.func:
            name = ctx.qualname(parent.func) or (parent.func.id if isinstance(parent.func, ast.Name) else "")
            if name.startswith(_LIBRARIES) or hasattr(builtins, name):
                return None  # which looks at it, or makes another tree of it
            return ctx.source.statement_of(node)
        elif isinstance(parent, ast.Subscript):
            if inner is not parent.value:
                return None
        elif not isinstance(parent, _HANDING_ON):
            return None
        inner = parent
    return None


def _names_of(statement: ast.stmt) -> list[ast.Name]:
    """The names that a statement gives its value, as they are read; none where it puts it anywhere else, too."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    flat = [part for target in targets for part in (target.elts if isinstance(target, ast.Tuple) else [target])]
    if not flat or not all(isinstance(part, ast.Name) for part in flat):
        return []
    return [ast.Name(part.id, ast.Load()) for part in flat if isinstance(part, ast.Name)]


def _outlives(use: ast.expr, kept: ast.stmt, ctx: FileContext) -> bool:
    """Is a state put away again, or used after code that may change a model which it knows by another name?"""
    scope, between = _scope(kept, ctx), ctx.span(kept).end
    if _kept(use, ctx) is not None or _scope(use, ctx) is not scope:
        return True
    until = ctx.span(ctx.source.statement_of(use)).start
    calls = (n for n in subtree(scope) if isinstance(n, ast.Call) and between <= ctx.span(n).start < until)
    return until < between or not all((ctx.qualname(call.func) or "").startswith(_LIBRARIES) for call in calls)


def _scope(node: ast.AST, ctx: FileContext) -> ast.AST:
    return next((p for p in ctx.source.ancestors(node) if isinstance(p, _FUNCTIONS)), ctx.source.tree)


def _later(place: ast.expr, statement: ast.stmt, ctx: FileContext) -> Iterator[ast.expr]:
    """Where the same name or attribute is read after the statement, until it is bound again; all of it in a loop."""
    scope, text = _scope(statement, ctx), ast.dump(place)
    around = list(ctx.source.ancestors(statement))
    looped = any(isinstance(p, _LOOPS) for p in (around[: around.index(scope)] if scope in around else around))
    end, name = ctx.span(statement).end, _base(place)
    found = [
        n
        for n in subtree(scope)
        if isinstance(n, type(place)) and (ctx.span(n).start >= end or looped or _inner(n, scope, ctx))
    ]
    for use in sorted(found, key=lambda n: ctx.span(n).start):
        if ctx.source.statement_of(use) is statement or _hidden(name, use, scope, ctx):
            continue
        if isinstance(use, ast.Name) and use.id == name and not isinstance(use.ctx, ast.Load):
            if not looped and not _inner(use, scope, ctx):
                return
        elif ast.dump(use) == text:
            yield use


def _base(place: ast.expr) -> str:
    while isinstance(place, ast.Attribute):
        place = place.value
    return place.id if isinstance(place, ast.Name) else ""


def _hidden(name: str, use: ast.AST, scope: ast.AST, ctx: FileContext) -> bool:
    """Is the name another one, of a function within the scope?"""
    for parent in ctx.source.ancestors(use):
        if parent is scope:
            return False
        if isinstance(parent, _FUNCTIONS) and name in ctx.source.names.bound_in(parent):
            return True
    return False


def _inner(node: ast.AST, scope: ast.AST, ctx: FileContext) -> bool:
    """Does the node stand in a function within the scope, which may be called later?"""
    return _scope(node, ctx) is not scope


def _is_given(place: ast.expr, node: ast.AST, ctx: FileContext) -> bool:
    """May it go by another name: as a parameter of the function around, an attribute, or an item of something?"""
    if isinstance(place, ast.Attribute):
        return True
    assert isinstance(place, ast.Name)
    scope = _scope(node, ctx)
    arguments = scope.args if isinstance(scope, _FUNCTIONS) else None
    given = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs] if arguments is not None else []
    if place.id in [a.arg for a in given]:
        return True
    stores = [n for n in subtree(scope) if isinstance(n, ast.Name) and n.id == place.id and not isinstance(n.ctx, ast.Load)]
    return any(not _is_of_a_call(store, ctx) for store in stores)


def _is_of_a_call(store: ast.Name, ctx: FileContext) -> bool:
    """`model = Net(rngs)`, `model, optimizer = create()`."""
    parent = ctx.source.parents.get(store)
    if isinstance(parent, ast.Tuple):
        parent = ctx.source.parents.get(parent)
    return isinstance(parent, ast.Assign | ast.AnnAssign | ast.NamedExpr) and isinstance(parent.value, ast.Call)


def _reads(use: ast.expr, ctx: FileContext, split: bool) -> bool:
    parent = ctx.source.parents.get(use)
    while isinstance(parent, ast.Attribute | ast.Subscript) and not split:  # `model.layer.kernel.value`
        use, parent = parent, ctx.source.parents.get(parent)
        if isinstance(use, ast.Attribute) and use.attr == "value":
            return isinstance(use.ctx, ast.Load)
        if isinstance(use.ctx, ast.Load) and not (isinstance(parent, ast.Attribute | ast.Subscript | ast.Call)):
            return True
    if isinstance(parent, ast.Return | ast.Delete):
        return True
    return isinstance(parent, ast.Call) and use in parent.args and ctx.qualname(parent.func) in _READ


def _own(state: ast.expr, node: ast.AST, ctx: FileContext) -> bool:
    """Is the state a parameter of the function around, which a transform gives trees of its own?"""
    scope = _scope(node, ctx)
    if not isinstance(scope, ast.FunctionDef | ast.Lambda) or not isinstance(state, ast.Name):
        return False
    if state.id not in [a.arg for a in [*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs]]:
        return False
    if isinstance(scope, ast.Lambda):
        holder = ctx.source.parents.get(scope)
        return isinstance(holder, ast.Call) and today(ctx, holder.func) in TRACERS
    for decorator in scope.decorator_list:
        called: ast.AST = decorator.func if isinstance(decorator, ast.Call) else decorator
        if isinstance(decorator, ast.Call) and today(ctx, decorator.func) in PARTIALS and decorator.args:
            called = decorator.args[0]
        if today(ctx, called) in TRACERS:
            return True
    uses = [n for n in ctx.source.by_kind.get(ast.Name, ()) if isinstance(n, ast.Name) and n.id == scope.name]
    calls = [call for n in uses if isinstance(call := ctx.source.parents.get(n), ast.Call)]
    return bool(uses) and len(calls) == len(uses) and all(today(ctx, call.func) in TRACERS for call in calls)


def _again(state: ast.expr, node: ast.Call, statement: ast.stmt, ctx: FileContext) -> Iterator[ast.expr]:
    """Other uses of a state that is merged: later ones, and any of a value that an outer function holds."""
    scope = _scope(node, ctx)
    base = _base(state)
    local = isinstance(scope, ast.Module) or base in ctx.source.names.bound_in(scope)
    if not local or base == "self":
        yield state
    same = [n for n in subtree(statement) if isinstance(n, ast.expr) and ast.dump(n) == ast.dump(state)]
    if len(same) > 1:
        yield state
    yield from _later(state, statement, ctx)
