"""Flags that move from the construction of a layer to its calls: `BatchNorm(use_running_average=not train)(x)`.

The text says the same at the call only while its names still mean what they meant where the layer was made.
"""

from __future__ import annotations

import ast
from typing import Any

from ...edits import Part
from ...linen.values.called_functions import called_function
from ...linen.values.mutation import changed_names, root_name
from ...linen.values.sites import Unmigratable
from ...source import SourceFile
from ...trees import subtree

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_OF_SCOPES = frozenset({"make_rng", "variable", "get_variable", "put_variable", "sow", "perturb"})
_DRAWING = ("numpy.random.", "random.", "secrets.", "uuid.", "time.")
_MAX_DEPTH = 8  # functions that call functions
_LOOPS = (ast.For, ast.While, ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)


def words(run: Any, source: SourceFile, flag: ast.expr) -> Part:
    """The flag as it stands in the file, or as it reads in the words of the method that calls a function which says it."""
    if any(isinstance(node, ast.NamedExpr) for node in subtree(flag)):
        what = f"`{run.project.said(flag)}` names a value among a module's arguments, which move"
        raise Unmigratable("NNX134", what, flag)
    return ast.unparse(flag) if flag in run.in_words else source.span(flag)


def nearest(run: Any, source: SourceFile, flag: ast.expr, call: ast.Call) -> ast.expr:
    """What a function says of its arguments, in its own words where it calls the layer itself."""
    own = run.in_words.get(flag)
    if own is None or own not in source.parents or call not in source.parents:
        return flag
    scope = next((p for p in source.ancestors(own) if isinstance(p, _FUNCTIONS)), None)
    return own if scope is not None and scope in source.ancestors(call) else flag


def check(run: Any, source: SourceFile, flag: ast.expr, call: ast.Call, env: Any) -> None:
    """Refuse a flag whose names change between its place and the call, or are others there. `env`: the names at the call."""
    names = {n.id for n in subtree(flag) if isinstance(n, ast.Name) and n.id != "self"}
    called = [n for n in subtree(flag) if isinstance(n, ast.Call)]
    if any(_takes(n.func) for n in called):
        raise Unmigratable("NNX172", f"`{ast.unparse(flag)}` of a module takes something each time that it is asked", flag)
    places = list(source.ancestors(flag)) if flag in source.parents else []
    again = next((n for n in called if _acts(run, source, n.func)), None)
    if again is not None and call not in places:
        what = f"`{ast.unparse(again)}` is called once for a module, whose calls may be several, or later"
        raise Unmigratable("NNX172", what, flag)
    if flag in run.in_words:  # said by a function that its method calls
        _check_other(run, flag, names, env)
        return
    if flag not in source.parents:
        raise Unmigratable("NNX172", f"`{ast.unparse(flag)}` of a module is set in another file", call)
    if not names or call in places:
        return
    scope = next((p for p in places if isinstance(p, _FUNCTIONS)), None)
    if scope is None:
        return
    around = list(source.ancestors(call))
    if scope not in around:
        _check_other(run, flag, names & _bound(scope), env)
        return
    inner = [p for p in around[: around.index(scope)] if isinstance(p, _FUNCTIONS)]
    hidden = sorted(names & {name for function in inner for name in _bound(function)})
    if hidden:
        what = f"`{ast.unparse(flag)}` of a module is set where `{hidden[0]}` is another one than at its call"
        raise Unmigratable("NNX172", what, flag)
    loops = [p for p in around if isinstance(p, _LOOPS) and p not in places]
    after, before = _end(flag), _start(call)
    held = any(isinstance(n, ast.Subscript | ast.Attribute) and root_name(n) in names for n in subtree(flag))
    for node in subtree(scope):
        name = _changed(node, names, held)
        if not name:
            continue
        later = after <= _start(node) and (inner or _start(node) < before)  # an inner function runs whenever it is called
        if later or any(loop in source.ancestors(node) for loop in loops):
            what = f"`{name}` changes between the layer that is made with `{ast.unparse(flag)}` and its call"
            raise Unmigratable("NNX172", what, flag)


def _changed(node: ast.AST, names: set[str], held: bool) -> str:
    """Which of the names a node binds again, or a statement changes in place (`flags["train"] = False`).

    `held`: the flag is an item or attribute of one, which may have other names.
    """
    if isinstance(node, ast.Name):
        return node.id if isinstance(node.ctx, ast.Store | ast.Del) and node.id in names else ""
    changed = changed_names(node) if isinstance(node, ast.stmt) else frozenset()
    return min(changed if held else names & changed, default="")


def _acts(run: Any, source: SourceFile, function: ast.expr, depth: int = 0) -> bool:
    """Does a call of it draw random numbers, or run a module, whose statistics and draws move on with each call?"""
    named = function.attr if isinstance(function, ast.Attribute) else ""
    owner = function.value if isinstance(function, ast.Attribute) else function
    name = run.project.qualname(source, function) or ""
    if named in _OF_SCOPES or name.startswith(_DRAWING) or depth > _MAX_DEPTH:
        return True
    held = [run.evaluated[n].value for n in (function, owner) if n in run.evaluated]
    if any(run.holds_module(value) for value in held):
        return True
    found = called_function(run, source, function)
    return found is not None and any(
        _acts(run, found[0], n.func, depth + 1) for n in subtree(found[1]) if isinstance(n, ast.Call)
    )


def _takes(function: ast.expr) -> bool:
    """`next(masks)`, `masks.pop()`"""
    if isinstance(function, ast.Attribute):
        return function.attr in ("pop", "popleft", "popitem", "__next__")
    return isinstance(function, ast.Name) and function.id == "next"


def _check_other(run: Any, flag: ast.expr, local: set[str], env: Any) -> None:
    """The flag is set in another function than the call: its names must be the caller's own, under the same name."""
    for node in subtree(flag):
        if isinstance(node, ast.Name) and node.id in local:
            meant = run.evaluated.get(node)
            if env is None or meant is None or env.get(node.id) is not meant:
                what = f"`{ast.unparse(flag)}` of a layer is set in a function where `{node.id}` is not the caller's"
                raise Unmigratable("NNX172", what, flag)


def _bound(scope: ast.AST) -> set[str]:
    found = {a.arg for a in subtree(scope) if isinstance(a, ast.arg)}
    return found | {n.id for n in subtree(scope) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _start(node: ast.AST) -> tuple[int, int]:
    return node.lineno, node.col_offset  # type: ignore[attr-defined]


def _end(node: ast.expr) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


__all__ = ["check", "words"]
