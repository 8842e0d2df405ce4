"""Names of early NNX."""

from __future__ import annotations

import ast

from ..catalog.early_nnx import MOVED_MODULES, RENAMED, SHARDING_KEYWORDS
from ..context import FileContext
from ..edits import Span
from ..nnx.program.early import Types
from ..nnx.program.sharding import is_alias
from ..rule import Example, Rule

RULE = Rule(
    code="NNX901",
    name="nnx-name",
    summary="VariableState is Variable, flax.experimental.nnx is flax.nnx, sharding= is out_sharding=",
    what="Rewrites renamed names of flax.nnx and the keyword that carries a variable's sharding.",
    why="VariableState went with flax 0.12: a State holds Variables. `sharding=` is deprecated for `out_sharding=`.",
    how_sure="by construction",
    examples=(
        Example(
            title="names and keyword",
            before="""\
import jax.numpy as jnp
from flax import nnx
from flax.nnx import VariableState


def shape(path, v: VariableState | nnx.VariableState):
    return v.shape


with nnx.use_eager_sharding(False):
    p = nnx.Param(jnp.ones((2, 4)), sharding=(None, 'model'))
    init = nnx.with_metadata(nnx.initializers.zeros, sharding=('a', 'b'))
""",
            after="""\
import jax.numpy as jnp
from flax import nnx


def shape(path, v: nnx.Variable | nnx.Variable):
    return v.shape


with nnx.use_eager_sharding(False):
    p = nnx.Param(jnp.ones((2, 4)), out_sharding=(None, 'model'))
    init = nnx.with_metadata(nnx.initializers.zeros, out_sharding=('a', 'b'))
""",
            run="def check(before, after):\n    assert after['p'].out_sharding == before['p'].out_sharding\n",
        ),
        Example(
            title="the experimental module",
            before="from flax.experimental import nnx\n\nr = nnx.Rngs(0)\n",
            after="from flax import nnx\n\nr = nnx.Rngs(0)\n",
            run="def check(before, after):\n    assert after['r'].params() is not None\n",
        ),
        Example(
            title="gradients by a filter",
            before="""\
import jax.numpy as jnp
from flax.experimental import nnx


class Net(nnx.Module):
    def __init__(self):
        self.w = nnx.Param(jnp.ones(3))
        self.b = nnx.Param(jnp.ones(3))


def loss(net):
    return (net.w * 2 + net.b).sum()


every = nnx.grad(loss, wrt=nnx.Param)(Net())
some = nnx.grad(loss, wrt=nnx.PathContains('w'))(Net())
""",
            after="""\
import jax.numpy as jnp
from flax import nnx


class Net(nnx.Module):
    def __init__(self):
        self.w = nnx.Param(jnp.ones(3))
        self.b = nnx.Param(jnp.ones(3))


def loss(net):
    return (net.w * 2 + net.b).sum()


every = nnx.grad(loss, argnums=0)(Net())
some = nnx.grad(loss, argnums=nnx.DiffState(0, nnx.PathContains('w')))(Net())
""",
            run="""\
def check(before, after):
    assert set(after['every']) == {'w', 'b'} and set(after['some']) == {'w'}
    assert float(after['every']['w'][...].sum()) == 6 == float(after['some']['w'][...].sum())
""",
        ),
    ),
    words=frozenset({"nnx"}),
)


@RULE.register(ast.Name, ast.Attribute, ends=frozenset(name.rpartition(".")[2] for name in RENAMED))
def renamed(node: ast.AST, ctx: FileContext) -> None:
    if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load):
        return
    new = RENAMED.get(ctx.qualname(node) or "")
    if new is not None and not is_alias(ctx, node):
        ctx.replace(node, ctx.name(new), code=RULE.code)


@RULE.register(ast.ImportFrom)
def moved(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.ImportFrom)
    if node.level:
        return
    names = ", ".join(a.name + (f" as {a.asname}" if a.asname else "") for a in node.names)
    if node.module == "flax.experimental" and [a.name for a in node.names] == ["nnx"]:
        ctx.replace(node, f"from flax import {names}", code=RULE.code)
    elif node.module in MOVED_MODULES:
        ctx.replace(node, f"from {MOVED_MODULES[node.module]} import {names}", code=RULE.code)


@RULE.register(ast.Call, words=frozenset(SHARDING_KEYWORDS))
def sharding_keyword(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.Call)
    keywords = [k for k in node.keywords if k.arg in SHARDING_KEYWORDS]
    if not keywords or any(k.arg == "out_sharding" for k in node.keywords):
        return
    name = ctx.qualname(node.func)
    if name is None or not (name == "flax.nnx.with_metadata" or name in Types.of(ctx).variable_types):
        return
    for keyword in keywords[:1]:
        start = ctx.source.offset(keyword.lineno, keyword.col_offset)
        ctx.replace(Span(start, start + len(keyword.arg or "")), "out_sharding", code=RULE.code)


@RULE.register(ast.Call, ends=frozenset({"grad", "value_and_grad"}))
def wrt_keyword(node: ast.AST, ctx: FileContext) -> None:
    """`nnx.grad(f, wrt=nnx.Param)` of flax 0.8: what the gradients are taken by stands in `argnums` since then."""
    assert isinstance(node, ast.Call)
    if ctx.qualname(node.func) not in ("flax.nnx.grad", "flax.nnx.value_and_grad"):
        return
    given = {k.arg: k for k in node.keywords}
    wrt, argnums = given.get("wrt"), given.get("argnums")
    if wrt is None or argnums is not None:
        return
    if ctx.qualname(wrt.value) == "flax.nnx.Param":
        ctx.replace(wrt, "argnums=0", code=RULE.code)
    else:
        on_module = isinstance(node.func, ast.Attribute)
        state = f"{ctx.text(node.func.value)}.DiffState" if on_module else ctx.name("flax.nnx.DiffState")  # type: ignore[attr-defined]
        ctx.replace(wrt, f"argnums={state}(0, ", ctx.span(wrt.value), ")", code=RULE.code)
