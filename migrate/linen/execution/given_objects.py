"""Objects that change in place after a module was given them: NumPy arrays, configs.

Linen's module sees the change where it is called then, and not where it was called before; NNX's has made its layers, and is
called when all changes are made.
"""

from __future__ import annotations

import ast
import functools
import weakref
from collections.abc import Iterator
from typing import Any

from ...source import SourceFile
from ...trees import of_kind, subtree
from ..values.arguments import parameters_of
from ..values.called_functions import called_function
from ..values.mutation import changed_names, root_name, scope_of
from ..values.sites import Abs, Unmigratable
from ..values.values import Array, Tup
from . import aliases

_SIMPLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete, ast.Return)
_CHANGE_FIRST = frozenset({"copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask", "shuffle"})
_OF_OPERATOR = frozenset({"setitem", "iadd", "isub", "imul", "itruediv", "iconcat"})
_OF_ARRAYS = frozenset({"partition", "put", "resize", "itemset", "setfield", "byteswap"})  # methods of NumPy's arrays
_OF_ARRAYS |= {f"__{name}__" for name in _OF_OPERATOR}
_NUMBERS = frozenset({"int", "float", "len", "bool", "str", "numpy.prod", "numpy.ndim", "numpy.size"})
_MAX_DEPTH = 4  # functions that hand their arguments on

Function = ast.FunctionDef | ast.Lambda
# Of each execution: function → which parameters it changes.
_KNOWN: weakref.WeakKeyDictionary[Any, dict[Function, tuple[frozenset[str], frozenset[str]]]] = weakref.WeakKeyDictionary()


def check(run: Any, statement: ast.stmt, env: Any) -> frozenset[str]:
    """Refuse an object that changes after it was given to a module. Gives the names of those that calls change."""
    if not isinstance(statement, _SIMPLE):
        return frozenset()
    changed = changed_names(statement) | _grown(run, statement, env)
    made = any(site.kind == "class" and site.source is env.source for site in run.sites)
    by_calls = _changed_by_calls(run, statement, made, env)
    changed |= by_calls
    for name in changed:
        loop = _loop_of_all_passes(name, statement, env)
        if loop is not None and (run.in_setup or _is_of_numpy(run, {name}, statement, env)):
            run.unsteady[name] = loop
    if not changed or not made:
        return by_calls
    others = aliases.with_others(run.active, changed)
    given = [
        (site, field, bound, names)
        for site in run.sites
        if site.kind == "class" and site.source is env.source
        for field, bound in site.bound.items()
        if bound.node is not None and (names := _held(bound.node))
    ]
    for site, field, bound, names in given:
        if isinstance(bound.node, ast.Name) and bound.node.id in changed:
            held = env.get(bound.node.id)
            affected = held is not None and held.value is bound.abs.value
        else:  # an item or a view of it, or another name: `cfg["mask"]` stays the same object where `cfg` has another one
            affected = not names.isdisjoint(others)
            affected = affected and (isinstance(bound.node, ast.Name) or _is_of_numpy(run, changed, statement, env))
        if affected:
            owner = site.target.rpartition(".")[2]
            what = f"`{ast.unparse(statement)}` changes `{field}` of {owner}, which has been made"
            raise Unmigratable("NNX113", what, statement)
    return by_calls


def check_steady(run: Any, site: Any) -> None:
    """Refuse an object that every pass of a loop changes: the modules of all passes have it as it is at the end."""
    for field, bound in site.bound.items() if run.unsteady else ():
        loop = run.unsteady.get(bound.node.id) if isinstance(bound.node, ast.Name) else None
        if loop is not None and loop in site.source.ancestors(site.node):
            what = f"`{field}` of {site.target.rpartition('.')[2]} is `{bound.node.id}`, which changes in a loop"
            raise Unmigratable("NNX113", what, site.node)


def forget(names: frozenset[str], env: Any) -> None:
    """Arrays that a call has changed are the method's alone: the constructor does not make the call."""
    for name in names:
        scope = scope_of(name, env)
        held = scope.names.get(name)
        if held is not None and isinstance(held.value, Array):
            scope.local.discard(name)
            scope.names[name] = Abs(held.value, False, held.flags)


def _held(node: ast.expr) -> frozenset[str]:
    """Names of objects that are given, or that have what is given: `masks`, `cfg.masks`, `masks[0].T`."""
    if isinstance(node, ast.Attribute):
        return frozenset({root_name(node)}) - {"", "self"}
    return aliases.held(node)


def _grown(run: Any, statement: ast.stmt, env: Any) -> frozenset[str]:
    """`factors += 4` and `cfg.factors += 4` of a NumPy array or a list, which stays the same object."""
    if not isinstance(statement, ast.AugAssign):
        return frozenset()
    name = root_name(statement.target)
    held = env.get(name) if name not in ("", "self") else None
    if held is None:
        return frozenset()
    listed = isinstance(statement.target, ast.Name) and isinstance(held.value, Tup) and held.value.kind == "list"
    return frozenset({name}) if listed or _is_of_numpy(run, {name}, statement, env) else frozenset()


def _is_of_numpy(run: Any, names: set[str] | frozenset[str], statement: ast.stmt, env: Any) -> bool:
    """Does the function assign what NumPy gives to one of the names, or to another for the same, or take it as such?"""
    names = aliases.with_others(run.active, names)
    scope = next((a for a in env.source.ancestors(statement) if isinstance(a, ast.FunctionDef)), None)
    if scope is None:
        return False
    for argument in of_kind(scope, ast.arg):
        if argument.arg in names and argument.annotation is not None:
            if run.project.qualname(env.source, argument.annotation) == "numpy.ndarray":
                return True
    for node in of_kind(scope, ast.Assign):
        if any(not names.isdisjoint(aliases.stored(t)) for t in node.targets):
            called = [run.project.qualname(env.source, n) or "" for n in _functions(node.value)]
            if any(name.startswith("numpy.") and name not in _NUMBERS for name in called):
                return True
    return False


def _functions(node: ast.AST) -> Iterator[ast.expr]:
    """The functions whose results may be arrays in what an expression gives: not those within `int(...)`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _NUMBERS:
        return
    if isinstance(node, ast.Call):
        yield node.func
    for child in ast.iter_child_nodes(node):
        yield from _functions(child)


@functools.lru_cache(maxsize=16384)
def _calls(statement: ast.stmt) -> tuple[ast.Call, ...]:
    """Calls that are given objects which have names."""
    return tuple(n for n in subtree(statement) if isinstance(n, ast.Call) and _handed(n))


@functools.lru_cache(maxsize=16384)
def _handed(call: ast.Call) -> frozenset[str]:
    found = frozenset().union(*[aliases.held(a) for a in (*call.args, *[k.value for k in call.keywords])])
    changing = isinstance(call.func, ast.Attribute) and call.func.attr in _OF_ARRAYS
    return found | aliases.held(call.func.value) if changing else found  # type: ignore[attr-defined]


def _changed_by_calls(run: Any, statement: ast.stmt, made: bool, env: Any) -> frozenset[str]:
    """Names of objects that a statement's calls change in place. `made`: there are modules that may have been given them."""
    found = frozenset[str]()
    for call in _calls(statement):
        handed = _handed(call)
        if not made and not any(env.is_local(name) for name in handed):
            continue
        sure, maybe = changed_by_call(run, env.source, call)
        found |= sure | {name for name in maybe if _is_of_numpy(run, {name}, statement, env)}
    return found


def changed_by_call(run: Any, source: SourceFile, call: ast.Call, depth: int = 0) -> tuple[frozenset[str], frozenset[str]]:
    """Names of objects that a call changes in place; and those that it does where they are NumPy's, by `a += 1`."""
    sure = {name for k in call.keywords if k.arg == "out" for name in aliases.held(k.value)}
    said = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    name = run.project.qualname(source, call.func) or ""
    first = said in _CHANGE_FIRST and (said == "shuffle" or name.startswith("numpy."))
    if call.args and (first or name.rpartition(".")[::2] in {("operator", one) for one in _OF_OPERATOR}):
        sure |= aliases.held(call.args[0])
    if isinstance(call.func, ast.Attribute) and said in _OF_ARRAYS:
        return frozenset(sure), aliases.held(call.func.value)
    found = called_function(run, source, call.func) if depth < _MAX_DEPTH else None
    if found is None:
        return frozenset(sure), frozenset()
    surely, perhaps = _changed_parameters(run, *found, depth)
    parts = _arguments(found[1], call)
    sure |= {n for parameter, node in parts if parameter in surely for n in aliases.held(node)}
    return frozenset(sure), frozenset(n for p, node in parts if p in perhaps for n in aliases.held(node))


def _changed_parameters(run: Any, home: SourceFile, function: Function, depth: int) -> tuple[frozenset[str], frozenset[str]]:
    """What a function changes of what it is given, and what where that is NumPy's."""
    known = _KNOWN.setdefault(run, {})
    if function not in known:
        known[function] = frozenset(), frozenset()  # for one that calls itself
        grown = {n.target.id for n in subtree(function) if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)}
        changed = set(aliases.changed_parameters(function)) - grown
        for inner in (n for n in subtree(function) if isinstance(n, ast.Call) and _handed(n)):
            handed, counted = changed_by_call(run, home, inner, depth + 1)
            changed |= handed
            grown |= counted
        known[function] = aliases.with_others([function], changed), aliases.with_others([function], grown)
    return known[function]


def _arguments(function: Function, call: ast.Call) -> list[tuple[str, ast.expr]]:
    names = parameters_of(function)
    names = names[1:] if names[:1] == ["self"] else names
    return [*zip(names, call.args), *[(k.arg, k.value) for k in call.keywords if k.arg]]


def _loop_of_all_passes(name: str, statement: ast.stmt, env: Any) -> ast.For | ast.While | None:
    """The loop that changes an object which was there before it, so that all passes share it."""
    target = statement.target.id if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name) else ""
    for loop in env.source.ancestors(statement):
        if not isinstance(loop, ast.For | ast.While):
            continue
        stores = (n.id for n in subtree(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
        if all(n != name or name == target for n in stores):
            return loop
    return None


__all__ = ["changed_by_call", "check", "check_steady", "forget"]
