"""Programs that put something in the place of what flax.linen has: reported, for migrated code no longer looks there."""

from __future__ import annotations

import ast

from ..context import FileContext
from ..diagnostics import Severity
from ..rule import Example, Rule

RULE = Rule(
    code="NNX209",
    name="patched-linen",
    summary="something of flax.linen is replaced while the program runs, which migrated code takes from flax.nnx",
    what=(
        "`nn.Dense = Sparse`, `nn.Dense.__call__ = f`, `setattr(nn, name, f)`, `monkeypatch.setattr(nn, 'relu', f)`, "
        "`mock.patch('flax.linen.relu')`, `mock.patch.object(nn.Dense, '__call__')` are marked. What to do: hand the "
        "modules what they shall use (a field, or an argument), or replace the same of flax.nnx; layers have other "
        "names, constructors and methods there. `getattr(nn, name)` beside such a `setattr` is left as it is."
    ),
    why=(
        "Linen code looks a layer or function up in flax.linen whenever it runs, so that such a patch reaches all modules. "
        "Native modules take it from flax.nnx or from the generated `linen_parity`: the patch would do nothing, silently."
    ),
    how_sure="diagnostic only",
    examples=(
        Example(
            title="an activation replaced for a while",
            before="""\
import flax.linen as nn


def sparse(f):
    setattr(nn, 'relu', f)
""",
            after=None,
        ),
    ),
    words=frozenset({"linen"}),
)

_SETTING = frozenset({"setattr", "delattr"})
_PATCHING = frozenset({"patch", "object", "multiple", "dict"})


def sets_linen(node: ast.AST, ctx: FileContext) -> bool:
    """Is it a call that replaces an attribute of flax.linen, or of something in it?"""
    if not isinstance(node, ast.Call) or not node.args or not _says(node.func):
        return False
    first = node.args[0]
    if isinstance(first, ast.Constant):
        return isinstance(first.value, str) and _of_linen(first.value)
    return _of_linen(ctx.qualname(first))


def _says(function: ast.expr) -> bool:
    if isinstance(function, ast.Name):
        return function.id in _SETTING or function.id == "patch"
    if not isinstance(function, ast.Attribute):
        return False
    if function.attr in _SETTING or function.attr == "patch":
        return True
    inner = function.value
    named = inner.attr if isinstance(inner, ast.Attribute) else inner.id if isinstance(inner, ast.Name) else ""
    return function.attr in _PATCHING and named == "patch"


def _of_linen(name: str | None) -> bool:
    return name is not None and (name == "flax.linen" or name.startswith("flax.linen."))


@RULE.register(ast.Call, ends=_SETTING | _PATCHING)
def replaced_by_call(node: ast.AST, ctx: FileContext) -> None:
    if sets_linen(node, ctx):
        _report(node, ctx)


@RULE.register(ast.Assign, ast.Delete)
def replaced(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.Assign | ast.Delete)
    if any(isinstance(target, ast.Attribute) and _of_linen(ctx.qualname(target.value)) for target in node.targets):
        _report(node, ctx)


def _report(node: ast.AST, ctx: FileContext) -> None:
    ctx.report(
        node,
        RULE.code,
        "this replaces something of flax.linen, and native modules take it from flax.nnx or linen_parity",
        severity=Severity.WARNING,
        help="Hand the modules what they shall use, or replace the same of flax.nnx; layers differ there.",
    )


__all__ = ["RULE", "sets_linen"]
