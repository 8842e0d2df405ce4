"""Methods of FrozenDicts, on what `init` returns: dictionaries since flax 0.7."""

from __future__ import annotations

import ast

from ..context import FileContext
from ..rule import Example, Rule
from ..trees import subtree

RULE = Rule(
    code="NNX816",
    name="frozen-dict-methods",
    summary="params.unfreeze(), params.copy({...}) and rest, params = variables.pop('params') are functions of flax.core",
    what="`params.unfreeze()` becomes `flax.core.unfreeze(params)`, `params.copy({...})` `flax.core.copy(params, {...})`, "
    "and `rest, params = variables.pop('params')` `flax.core.pop(variables, 'params')`, of what is called params, "
    "variables or state, or was just made by `init`.",
    why="init and apply have returned dictionaries since flax 0.7, which have no unfreeze, whose copy takes nothing and "
    "whose pop returns one value. The functions of flax.core take both.",
    how_sure="by construction: for a FrozenDict the functions call its methods",
    examples=(
        Example(
            title="variables of an older flax",
            before="""\
import jax.numpy as jnp
from flax.core import FrozenDict

variables = FrozenDict({"params": {"kernel": jnp.ones(2)}, "batch_stats": {"mean": jnp.zeros(2)}})
rest, params = variables.pop("params")
params = params.copy({"bias": jnp.zeros(2)})
params = params.copy(add_or_replace={"scale": jnp.ones(2)})
params = params.unfreeze()
params["kernel"] = params["kernel"] + 1.0
""",
            after="""\
import jax.numpy as jnp
import flax
from flax.core import FrozenDict

variables = FrozenDict({"params": {"kernel": jnp.ones(2)}, "batch_stats": {"mean": jnp.zeros(2)}})
rest, params = flax.core.pop(variables, "params")
params = flax.core.copy(params, {"bias": jnp.zeros(2)})
params = flax.core.copy(params, add_or_replace={"scale": jnp.ones(2)})
params = flax.core.unfreeze(params)
params["kernel"] = params["kernel"] + 1.0
""",
            run="""\
def check(before, after):
    assert before['params'].keys() == after['params'].keys() == {'kernel', 'bias', 'scale'}
    assert before['rest'].keys() == after['rest'].keys() == {'batch_stats'}
    assert float(after['params']['kernel'].sum()) == 4.0
""",
        ),
    ),
    words=frozenset({"unfreeze", "copy", "pop"}),
)
_COLLECTIONS = frozenset({"params", "params_axes", "batch_stats", "cache", "intermediates"})
_CALLED = ("param", "variable", "state")
_FROZEN = frozenset(f"flax.core.{name}" for name in ("freeze", "FrozenDict", "frozen_dict.freeze", "frozen_dict.FrozenDict"))


@RULE.register(ast.Call, ends=RULE.words)
def frozen_dict_methods(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.Call)
    method = node.func
    if not isinstance(method, ast.Attribute) or ctx.source.words.isdisjoint(("flax", "add_or_replace")):
        return  # nothing else is told what to add or replace
    if method.attr == "unfreeze" and not node.args and not node.keywords:
        used = not isinstance(ctx.source.parents.get(node), ast.Expr)
        if used and _is_tree(method.value, ctx) and not _is_own(ctx):
            ctx.replace(node, f"{ctx.name('flax.core.unfreeze')}(", method.value, ")", code=RULE.code)
    elif method.attr == "copy" and len(node.args) + len(node.keywords) == 1:
        named = [keyword.arg for keyword in node.keywords] == ["add_or_replace"]
        if named or (node.args and isinstance(node.args[0], ast.Dict) and _is_tree(method.value, ctx)):
            given = node.keywords[0] if named else node.args[0]
            ctx.replace(node, f"{ctx.name('flax.core')}.copy(", method.value, ", ", given, ")", code=RULE.code)
    elif method.attr == "pop" and len(node.args) == 1 and not node.keywords:
        key = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
        if key in _COLLECTIONS and _is_unpacked(node, ctx) and _is_tree(method.value, ctx):
            ctx.replace(node, f"{ctx.name('flax.core')}.pop(", method.value, ", ", node.args[0], ")", code=RULE.code)


def _is_tree(node: ast.expr, ctx: FileContext) -> bool:
    """Is it params or variables, by what it is called? What was just frozen has the methods."""
    if isinstance(node, ast.Call) and ctx.qualname(node.func) in _FROZEN:
        return False
    for part in subtree(node):
        word: object = None
        if isinstance(part, ast.Name | ast.Attribute | ast.Constant):
            word = getattr(part, "id", getattr(part, "attr", getattr(part, "value", None)))
        if isinstance(word, str) and (word == "init" or any(called in word.lower() for called in _CALLED)):
            return True
    return False


def _is_own(ctx: FileContext) -> bool:
    """Has a class of the project a method `unfreeze`? `flax.core.unfreeze` gives its objects back as they are."""
    files = [ctx.source] if ctx.project is None else ctx.project.files.values()
    return any(
        getattr(node, "name", "") == "unfreeze" and isinstance(source.parents.get(node), ast.ClassDef)
        for source in files
        if "unfreeze" in source.words
        for node in source.by_kind.get(ast.FunctionDef, ())
    )


def _is_unpacked(node: ast.Call, ctx: FileContext) -> bool:
    """`rest, params = ...`"""
    parent = ctx.source.parents.get(node)
    if not isinstance(parent, ast.Assign) or len(parent.targets) != 1:
        return False
    target = parent.targets[0]
    two = isinstance(target, ast.Tuple) and len(target.elts) == 2
    return two and not any(isinstance(part, ast.Starred) for part in subtree(target))
