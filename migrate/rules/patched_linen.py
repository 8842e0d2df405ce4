"""Programs that put something in the place of what flax.linen has, or come between its modules and their methods: reported.

Native modules look for nothing in flax.linen, and tell no interceptor of their calls.
"""

from __future__ import annotations

import ast

from ..context import FileContext
from ..diagnostics import Severity
from ..plan import Outcome
from ..rule import Example, Rule
from .linen_functions import stays_linen

RULE = Rule(
    code="NNX209",
    name="patched-linen",
    summary="something of flax.linen is replaced or intercepted while the program runs, which does not reach native modules",
    what=(
        "`nn.Dense = Sparse`, `nn.Dense.__call__ = f`, `setattr(nn, name, f)`, `monkeypatch.setattr(nn, 'relu', f)`, "
        "`mock.patch('flax.linen.relu')`, `mock.patch.object(nn.Dense, '__call__')` are marked. What to do: hand the "
        "modules what they shall use (a field, or an argument), or replace the same of flax.nnx; layers have other "
        "names, constructors and methods there. `getattr(nn, name)` beside such a `setattr` is left as it is. So is "
        "`nn.intercept_methods(f)` marked, outside of classes that stay Linen: do what `f` does in the modules, or around "
        "the call of the model; `--ignore NNX100` keeps all classes Linen."
    ),
    why=(
        "Linen code looks a layer or function up in flax.linen whenever it runs, so that such a patch reaches all modules, "
        "and asks its interceptors at every call of a method. Native modules take layers from flax.nnx or from the "
        "generated `linen_parity`, and have no interceptors: both would do nothing, silently."
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


@RULE.register(ast.Call, ends=frozenset({"intercept_methods"}))
def intercepted(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.Call)
    native = any(plan.outcome is Outcome.NATIVE for plan in ctx.plan.classes.values())
    if native and ctx.qualname(node.func) == "flax.linen.intercept_methods" and not stays_linen(node, ctx):
        help = "Do what the function does in the modules, or around the call of the model."
        ctx.report(
            node, RULE.code, "native modules tell no interceptor of their calls", severity=Severity.WARNING, help=help
        )


def _report(node: ast.AST, ctx: FileContext) -> None:
    ctx.report(
        node,
        RULE.code,
        "this replaces something of flax.linen, and native modules take it from flax.nnx or linen_parity",
        severity=Severity.WARNING,
        help="Hand the modules what they shall use, or replace the same of flax.nnx; layers differ there.",
    )


__all__ = ["RULE", "sets_linen"]
