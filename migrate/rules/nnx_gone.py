"""Names of early flax.nnx that have no drop-in successor."""

from __future__ import annotations

import ast

from ..catalog.early_nnx import GONE, GONE_METHODS, VARIABLE_TYPES
from ..context import FileContext
from ..diagnostics import Severity
from ..nnx.program.early import Types
from ..rule import Example, Rule

RULE = Rule(
    code="NNX910",
    name="nnx-gone",
    summary="nnx.Scan, nnx.Vmap, nnx.fork, nnx.with_sharding_constraint and others of early NNX are gone",
    what="Leaves the code as it is, marks it and says what stands for the name today; so are the methods that modules,"
    " structures and states had in flax.experimental.nnx (`model.split()`, `static.merge(state)`, `model.get_state()`).",
    why="flax 0.8 to 0.11 took these names out; their successors work differently enough that a person must choose:"
    " nnx.split gives the structure first, where model.split() gave it last.",
    how_sure="diagnostic only",
    examples=(
        Example(
            title="a stack of layers",
            before="""\
from flax import nnx


class Stack(nnx.Module):
    def __init__(self, block, rngs):
        self.layers = nnx.Scan(block, variable_axes={nnx.Param: 0}, length=3)(rngs=rngs)
""",
            after=None,
        ),
        Example(
            title="methods of flax.experimental.nnx",
            before="""\
from flax.experimental import nnx

state, static = nnx.Linear(2, 3, rngs=nnx.Rngs(0)).split()
model = static.merge(state)
""",
            after="""\
from flax import nnx

state, static = nnx.Linear(2, 3, rngs=nnx.Rngs(0)).split()
model = static.merge(state)
""",
        ),
    ),
    words=frozenset({"nnx"}),
)
_EXPERIMENTAL = "flax.experimental.nnx"


@RULE.register(ast.Name, ast.Attribute, ends=frozenset(name.rpartition(".")[2] for name in GONE))
def gone(node: ast.AST, ctx: FileContext) -> None:
    if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load):
        return
    name = ctx.qualname(node) or ""
    if name in GONE:
        said = name.removeprefix("flax.")
        ctx.report(node, RULE.code, f"{said} is gone", severity=Severity.WARNING, help=f"{said}: {GONE[name]}.")


@RULE.register(ast.Call, words=frozenset({"experimental"}), ends=frozenset(GONE_METHODS))
def gone_method(node: ast.AST, ctx: FileContext) -> None:
    """Methods of the time when nnx was experimental, in files that import it from there."""
    assert isinstance(node, ast.Call)
    func = node.func
    if not isinstance(func, ast.Attribute) or func.attr not in GONE_METHODS:
        return
    imports = ctx.source.names.imports
    if not any(target == _EXPERIMENTAL or target.startswith(f"{_EXPERIMENTAL}.") for target in imports.values()):
        return
    base: ast.expr = func
    while isinstance(base, ast.Attribute):
        base = base.value
    if isinstance(base, ast.Name) and base.id in imports:
        return  # a function of a module
    if func.attr in ("split", "update") and not _of_module(node, func, ctx):
        return
    ctx.report(
        node,
        RULE.code,
        f"{func.attr} of flax.experimental.nnx is gone",
        severity=Severity.WARNING,
        help=f"Write {GONE_METHODS[func.attr]}." if func.attr != "apply" else f"apply: {GONE_METHODS['apply']}.",
    )


def _of_module(call: ast.Call, func: ast.Attribute, ctx: FileContext) -> bool:
    """Is it a module's method? Strings have split, dicts have update."""
    kind = Types.of(ctx).kind(func.value)
    if kind is not None:
        return kind.what == "model"
    if func.attr == "update":
        return False
    filters = [a for a in call.args if ctx.qualname(a) in VARIABLE_TYPES or (isinstance(a, ast.Constant) and a.value is ...)]
    return bool(filters) or (isinstance(func.value, ast.Call) and not call.args)
