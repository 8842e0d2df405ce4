"""Keyword arguments of jax functions that have other names today."""

from __future__ import annotations

import ast

from ..context import FileContext
from ..edits import Span
from ..nnx.program.arguments import argument_span, argument_text, drop_argument
from ..rule import Example, Rule

RULE = Rule(
    code="NNX810",
    name="jax-keyword",
    summary="keywords of jnp.clip, reshape, quantile, sort, where and others have today's names",
    what="Renames keywords that NumPy or jax renamed, drops those that are gone (`kind=` of sorts: every sort is stable;"
    " `initial=` of softmax) and writes the arguments of jnp.where by position and those of jax.lax.dot by name;"
    " `solve(..., sym_pos=True)` becomes `assume_a='pos'`, `jax.random.shuffle` becomes `permutation(...,"
    " independent=True)`.",
    why="The old keywords raise TypeError: clip since 0.4.27, reshape 0.4.28, where 0.4.27, sort's kind 0.4.28, sym_pos"
    " 0.4.21, softmax's initial 0.4.36.",
    how_sure="by construction; bitwise for shuffle",
    examples=(
        Example(
            title="keywords",
            before="""\
import jax
import jax.numpy as jnp

x = jnp.asarray([3.0, 1.0, 2.0])
a = jnp.clip(x, a_min=1.5, a_max=None)
b = jnp.reshape(x, newshape=(3, 1))
c = jnp.quantile(x, 0.4, interpolation='nearest')
d = jnp.sort(x, kind='mergesort')
e = jnp.where(condition=x > 1, x=x, y=0)
f = jax.random.shuffle(jax.random.PRNGKey(0), x)
g = jax.lax.dot(x, x, jax.lax.Precision.HIGHEST)
h = jax.nn.softmax(x, axis=-1, initial=-jnp.inf)
i = jax.scipy.linalg.solve(2 * jnp.eye(3), x, sym_pos=True)
""",
            after="""\
import jax
import jax.numpy as jnp

x = jnp.asarray([3.0, 1.0, 2.0])
a = jnp.clip(x, min=1.5, max=None)
b = jnp.reshape(x, shape=(3, 1))
c = jnp.quantile(x, 0.4, method='nearest')
d = jnp.sort(x)
e = jnp.where(x > 1, x, 0)
f = jax.random.permutation(jax.random.PRNGKey(0), x, independent=True)
g = jax.lax.dot(x, x, precision=jax.lax.Precision.HIGHEST)
h = jax.nn.softmax(x, axis=-1)
i = jax.scipy.linalg.solve(2 * jnp.eye(3), x, assume_a='pos')
""",
            run="""\
def check(before, after):
    assert after['a'].tolist() == [3, 1.5, 2] and after['b'].shape == (3, 1) and float(after['c']) == 2
    assert after['d'].tolist() == [1, 2, 3] and after['e'].tolist() == [3, 0, 2]
    assert sorted(after['f'].tolist()) == [1, 2, 3]
    assert float(after['g']) == 14 and abs(float(after['h'].sum()) - 1) < 1e-6
    assert all(abs(got - half) < 1e-5 for got, half in zip(after['i'].tolist(), [1.5, 0.5, 1]))
""",
        ),
    ),
    words=frozenset(
        {"a_min", "a_max", "newshape", "interpolation", "kind", "condition", "shuffle", "initial", "sym_pos", "dot"}
    ),
)
_RENAMED: dict[str, dict[str, str]] = {
    "jax.numpy.clip": {"a": "arr", "a_min": "min", "a_max": "max"},
    "jax.numpy.reshape": {"newshape": "shape"},
    **{
        f"jax.numpy.{name}": {"interpolation": "method"}
        for name in ("quantile", "percentile", "nanquantile", "nanpercentile")
    },
}
_DROPPED: dict[str, str] = {
    **dict.fromkeys(("jax.numpy.sort", "jax.numpy.argsort"), "kind"),
    **dict.fromkeys(("jax.nn.softmax", "jax.nn.log_softmax"), "initial"),
}
_DOT = ("precision", "preferred_element_type")

_ENDS = frozenset(
    name.rpartition(".")[2]
    for name in (*_RENAMED, *_DROPPED, "jax.scipy.linalg.solve", "jax.lax.dot", "jax.numpy.where", "jax.random.shuffle")
)


@RULE.register(ast.Call, words=RULE.words, ends=_ENDS)
def keywords(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.Call)
    name = ctx.qualname(node.func) or ""
    if not name.startswith("jax."):
        return
    for keyword in node.keywords:
        new = _RENAMED.get(name, {}).get(keyword.arg or "")
        start = ctx.source.offset(keyword.lineno, keyword.col_offset)
        if new:
            ctx.replace(Span(start, start + len(keyword.arg or "")), new, code=RULE.code)
        elif keyword.arg is not None and keyword.arg == _DROPPED.get(name):
            drop_argument(ctx, node, keyword, RULE.code)
        elif name == "jax.scipy.linalg.solve" and keyword.arg == "sym_pos" and isinstance(keyword.value, ast.Constant):
            kind = "pos" if keyword.value.value else "gen"
            ctx.replace(keyword, f"assume_a='{kind}'", code=RULE.code)
    if name == "jax.lax.dot" and not any(isinstance(a, ast.Starred) for a in node.args):
        for called, value in zip(_DOT, node.args[2:], strict=False):
            ctx.insert(argument_span(ctx, node, value).start, f"{called}=", code=RULE.code)
    if name == "jax.numpy.where" and not node.args and len(node.keywords) == 3:
        given = {k.arg: k.value for k in node.keywords}
        if set(given) == {"condition", "x", "y"}:
            for place, called in zip(node.keywords, ("condition", "x", "y"), strict=True):
                ctx.replace(place, argument_text(ctx, node, given[called]), code=RULE.code)
    elif name == "jax.random.shuffle" and len(node.args) + len(node.keywords) >= 2:
        ctx.replace(node.func, ctx.name("jax.random.permutation"), code=RULE.code)
        last = [*node.args, *[k.value for k in node.keywords]][-1]
        ctx.insert(argument_span(ctx, node, last).end, ", independent=True", code=RULE.code)
