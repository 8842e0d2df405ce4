"""`flat_state()` of early NNX, which was a dictionary by path."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..context import FileContext
from ..edits import Span
from ..rule import Example, Rule
from ..trees import subtree

RULE = Rule(
    code="NNX911",
    name="nnx-flat-state",
    summary="flat_state() of a State is a sequence of paths with their variables, no dictionary",
    what="`state.flat_state().items()` → `state.flat_state()`; where the result is read as a dictionary (`flat[path]`,"
    " `flat.keys()`, `path in flat`), it is made one: `dict(state.flat_state())`.",
    why="Today a flat state is a sorted sequence of pairs, whose items are asked for by number.",
    how_sure="by construction",
    examples=(
        Example(
            title="a dictionary by path",
            before="""\
from flax import nnx

state = nnx.state(nnx.Linear(2, 3, rngs=nnx.Rngs(0)))
flat = state.flat_state()
shapes = {path: flat[path].shape for path in flat.keys()}
pairs = [path for path, _ in state.flat_state().items()]
""",
            after="""\
from flax import nnx

state = nnx.state(nnx.Linear(2, 3, rngs=nnx.Rngs(0)))
flat = dict(state.flat_state())
shapes = {path: flat[path].shape for path in flat.keys()}
pairs = [path for path, _ in state.flat_state()]
""",
            run="""\
def check(before, after):
    assert after['shapes'] == {('bias',): (3,), ('kernel',): (2, 3)} and after['pairs'] == list(after['shapes'])
""",
        ),
    ),
    words=frozenset({"flat_state"}),
)
_OF_DICTIONARIES = frozenset({"items", "keys", "values", "get", "pop", "update", "setdefault", "copy"})
_ORDERS = frozenset({"sorted", "list", "tuple", "reversed"})


@RULE.register(ast.Call)
def flat_state(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.Call)
    if not (isinstance(node.func, ast.Attribute) and node.func.attr == "flat_state" and not node.args):
        return
    if "nnx" not in ctx.source.words:
        return
    parent = ctx.source.parents.get(node)
    method = ctx.source.parents.get(parent) if isinstance(parent, ast.Attribute) else None
    if isinstance(parent, ast.Attribute) and isinstance(method, ast.Call) and method.func is parent:
        if parent.attr == "items" and not method.args:
            ctx.replace(Span(ctx.span(node).end, ctx.span(method).end), code=RULE.code)
            return
    if any(_by_path(use, ctx) for use in _uses(node, ctx)):
        ctx.replace(node, "dict(", ctx.span(node), ")", code=RULE.code)


def _uses(call: ast.Call, ctx: FileContext) -> Iterator[ast.expr]:
    """The call itself, and what its scope reads of the name that it is given."""
    yield call
    statement = ctx.source.parents.get(call)
    targets = statement.targets if isinstance(statement, ast.Assign) and statement.value is call else []
    names = {target.id for target in targets if isinstance(target, ast.Name)}
    scope = next(p for p in ctx.source.ancestors(call) if isinstance(p, ast.FunctionDef | ast.AsyncFunctionDef | ast.Module))
    for node in subtree(scope) if names else ():
        if isinstance(node, ast.Name) and node.id in names and isinstance(node.ctx, ast.Load):
            yield node


def _by_path(node: ast.expr, ctx: FileContext) -> bool:
    """Is a flat state read as only a dictionary is?"""
    parent = ctx.source.parents.get(node)
    if isinstance(parent, ast.Attribute):
        return parent.attr in _OF_DICTIONARIES
    if isinstance(parent, ast.Compare):
        return node in parent.comparators and any(isinstance(op, ast.In | ast.NotIn) for op in parent.ops)
    if not isinstance(parent, ast.Subscript) or parent.value is not node:
        return False
    if not isinstance(parent.ctx, ast.Load) or isinstance(parent.slice, ast.Tuple):
        return True
    return isinstance(parent.slice, ast.Name) and _goes_through(parent.slice, node, ctx)


def _goes_through(path: ast.Name, flat: ast.expr, ctx: FileContext) -> bool:
    """`for path in flat:` or `for path in sorted(flat):` around a read of `flat[path]`."""
    for around in ctx.source.ancestors(path):
        loops = [around] if isinstance(around, ast.For) else getattr(around, "generators", [])
        for loop in loops:
            if isinstance(loop.target, ast.Name) and loop.target.id == path.id:
                return ctx.text(_ordered(loop.iter)) == ctx.text(flat)
    return False


def _ordered(node: ast.expr) -> ast.expr:
    """`flat` of `sorted(flat)`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _ORDERS and node.args:
        return node.args[0]
    return node
