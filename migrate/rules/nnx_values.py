"""Variable.value, .sharding and metadata by attribute, in early NNX."""

from __future__ import annotations

import ast

from ..catalog.early_nnx import VARIABLE_ATTRIBUTES
from ..context import FileContext
from ..edits import Span
from ..nnx.program.early import Types, is_early
from ..rule import Example, Rule

RULE = Rule(
    code="NNX903",
    name="nnx-variable-access",
    summary="a variable is read as v[...], written with set_value, and its metadata with set_metadata",
    what="Rewrites `v.value`, `v.value = x`, `v.sharding` and `v.meta = x` where `v` is known to be a Variable: from"
    " its constructor, an annotation or a module's `__init__`.",
    why="`.value` is deprecated, `.sharding` reads the array's sharding since 0.12, and setting any other attribute"
    " raises. `v[...] = x` would cast and broadcast to what is there, so writes use set_value, which replaces.",
    how_sure="by construction; what is not known to be a variable is left",
    examples=(
        Example(
            title="reads, writes and metadata",
            before="""\
import jax.numpy as jnp
from flax import nnx


class Scale(nnx.Module):
    def __init__(self):
        self.w = nnx.Param(jnp.ones((2,)))
        self.n = nnx.Variable(0)

    def __call__(self, x):
        self.w.value = self.w.value * 2
        self.n.value += 1
        return x * self.w.value


def tag(v: nnx.VariableState):
    v.mark = 'seen'
    v.value -= 1
    return v


m = Scale()
y = m(jnp.ones((2,)))
t = tag(m.w)
kept = m.w.value
""",
            after="""\
import jax.numpy as jnp
from flax import nnx


class Scale(nnx.Module):
    def __init__(self):
        self.w = nnx.Param(jnp.ones((2,)))
        self.n = nnx.Variable(0)

    def __call__(self, x):
        self.w.set_value(self.w[...] * 2)
        self.n.value += 1
        return x * self.w[...]


def tag(v: nnx.Variable):
    v.set_metadata(mark='seen')
    v.set_value(v[...] - (1))
    return v


m = Scale()
y = m(jnp.ones((2,)))
t = tag(m.w)
kept = m.w[...]
""",
            run="""\
def check(before, after):
    assert after['y'].tolist() == [2, 2] and after['kept'].tolist() == [1, 1]
    assert after['t'].get_metadata('mark') == 'seen' and after['m'].n.get_value() == 1
""",
        ),
        Example(
            title="sharding",
            before="""\
import jax.numpy as jnp
from flax import nnx


def spec(path, v: nnx.VariableState):
    return v.sharding


x = jnp.ones(2)
s = x.sharding
""",
            after="""\
import jax.numpy as jnp
from flax import nnx


def spec(path, v: nnx.Variable):
    return v.out_sharding


x = jnp.ones(2)
s = x.sharding
""",
            run="""\
def check(before, after):
    nnx = after['nnx']
    with nnx.use_eager_sharding(False):
        assert after['spec']((), nnx.Param(after['x'], out_sharding=('a',))) == ('a',)
""",
        ),
    ),
    words=frozenset({"nnx"}),  # also of files that use what others, which say it, define
)
_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.MatMult: "@",
    ast.Pow: "**",
}


@RULE.register(ast.Attribute, ends=frozenset({"value", "sharding"}))
def read(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.Attribute)
    if not isinstance(node.ctx, ast.Load):
        return
    kind = Types.of(ctx).kind(node.value)
    if kind is None:
        return
    if node.attr == "value" and kind.what == "variable":
        ctx.replace(node, ctx.span(node.value), "[...]", code=RULE.code)
    elif node.attr == "sharding" and kind.what in ("variable", "leaf") and is_early(ctx):
        ctx.replace(node, ctx.span(node.value), ".out_sharding", code=RULE.code)


@RULE.register(ast.Assign)
def write(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.Assign)
    target = node.targets[0]
    if len(node.targets) != 1 or not isinstance(target, ast.Attribute):
        return
    kind = Types.of(ctx).kind(target.value)
    if kind is None or kind.what not in ("variable", "number"):
        return
    variable, value = ctx.span(target.value), ctx.span(node.value)
    if target.attr not in VARIABLE_ATTRIBUTES:
        ctx.replace(node, variable, f".set_metadata({target.attr}=", value, ")", code=RULE.code)
    elif target.attr == "value" and kind.what == "variable":
        ctx.replace(node, variable, ".set_value(", value, ")", code=RULE.code)


@RULE.register(ast.AugAssign)
def update(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.AugAssign)
    target = node.target
    if not isinstance(target, ast.Attribute) or target.attr != "value" or type(node.op) not in _OPERATORS:
        return
    kind = Types.of(ctx).kind(target.value)
    if kind is None or kind.what != "variable":
        return
    variable, value = ctx.span(target.value), ctx.span(node.value)
    text = ctx.text(target.value)
    operator = _OPERATORS[type(node.op)]
    simple = isinstance(node.value, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    open_, close = ("", "") if simple else ("(", ")")
    parts: list[str | Span] = [variable, f".set_value({text}[...] {operator} {open_}", value, f"{close})"]
    ctx.replace(node, *parts, code=RULE.code)
