"""`from jax.config import config` and flags that are no more."""

from __future__ import annotations

import ast

from ..catalog.jax_names import DEAD_FLAGS
from ..context import FileContext
from ..diagnostics import Severity
from ..rule import Example, Rule

RULE = Rule(
    code="NNX804",
    name="jax-config",
    summary="the config object is jax.config, and flags that jax has dropped are no longer set",
    what="`from jax.config import config` → `from jax import config`; a statement that sets a dropped flag goes, where"
    " it asked for what jax does anyway.",
    why="The jax.config module went with 0.4.29; setting an unknown flag raises AttributeError.",
    how_sure="by construction; a dropped flag that asked for the other way is reported",
    examples=(
        Example(
            title="import",
            before="from jax.config import config\n\nconfig.update('jax_enable_x64', False)\n",
            after="from jax import config\n\nconfig.update('jax_enable_x64', False)\n",
            run="def check(before, after):\n    assert after['config'] is __import__('jax').config\n",
        ),
        Example(
            title="dropped flag",
            before="import jax\n\njax.config.update('jax_array', True)\nx = jax.numpy.ones(2)\n",
            after="import jax\n\nx = jax.numpy.ones(2)\n",
            run="def check(before, after):\n    assert after['x'].shape == (2,)\n",
        ),
        Example(
            title="a flag that asked for the other way",
            before="import jax\n\njax.config.update('jax_array', False)\n",
            after=None,
        ),
    ),
    words=frozenset({"config"}),
)


@RULE.register(ast.ImportFrom)
def config_import(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.ImportFrom)
    if node.module == "jax.config" and not node.level and all(alias.name == "config" for alias in node.names):
        names = ", ".join(a.name + (f" as {a.asname}" if a.asname else "") for a in node.names)
        ctx.replace(node, f"from jax import {names}", code=RULE.code)


@RULE.register(ast.Import)
def config_module(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.Import)
    if [alias.name for alias in node.names] == ["jax.config"]:
        local = node.names[0].asname
        ctx.replace(node, f"from jax import config as {local}" if local else "import jax", code=RULE.code)


@RULE.register(ast.Expr)
def dead_flag_update(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.Expr)
    call = node.value
    if not isinstance(call, ast.Call) or len(call.args) != 2:
        return
    if ctx.qualname(call.func) not in ("jax.config.update", "jax.config.config.update"):
        return
    flag, value = call.args
    if isinstance(flag, ast.Constant) and flag.value in DEAD_FLAGS:
        _drop(node, str(flag.value), value, ctx)


@RULE.register(ast.Assign)
def dead_flag_assignment(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.Assign)
    target = node.targets[0]
    if len(node.targets) != 1 or not isinstance(target, ast.Attribute) or target.attr not in DEAD_FLAGS:
        return
    if ctx.qualname(target) in (f"jax.config.{target.attr}", f"jax.config.config.{target.attr}"):
        _drop(node, target.attr, node.value, ctx)


def _drop(node: ast.stmt, flag: str, value: ast.expr, ctx: FileContext) -> None:
    removed, now = DEAD_FLAGS[flag]
    if not (isinstance(value, ast.Constant) and value.value in (True, 1, "allow_all", "allow_jit")):
        ctx.report(
            node,
            RULE.code,
            f"jax {removed} dropped the flag {flag}: {now}",
            severity=Severity.WARNING,
            help="Remove the statement once the code does not need the old behaviour.",
        )
        return
    parent = ctx.source.parents.get(node)
    only = any(getattr(parent, field, None) == [node] for field in ("body", "orelse", "finalbody"))
    line = ctx.source.line_span(node)
    whole = ctx.source.text[line.start : line.end].strip() == ctx.text(node)
    if (only and not isinstance(parent, ast.Module)) or not whole:
        ctx.replace(node, "pass", code=RULE.code)
    else:
        ctx.replace(line, code=RULE.code)
    ctx.report(node, RULE.code, f"dropped the flag {flag}, which jax {removed} removed: {now}")
