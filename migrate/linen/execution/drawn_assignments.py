"""Assignments of a compact method that draw, for what parameters start from: see `values/drawn_names`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from ...trees import subtree
from ..modules.made_later import LATER
from ..values.drawn_names import forget, is_held, parameter, stream_of
from ..values.sites import Abs, Local, Localized, Site
from ..values.values import Array, Tup, Unknown
from .stale_names import keep_stale
from .taken_names import is_taken

A_KEY = Unknown("a random key")
_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_STARTING = frozenset({"param", "variable"})
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def assigned(run: Any, statement: ast.stmt, value: Abs, names: set[str], env: Any, unsaid: bool) -> bool:
    """Follow an assignment; is it one of what is drawn, which the constructor says for first values?

    `unsaid`: of names alone, and the constructor does not say it for everything.
    """
    followed = unsaid and _follow(run, statement, value, names, env)
    started = _parameter(run, statement, names, env) if unsaid and not followed else None
    if env.method is not None:
        forget(run, names, env)
        keys = {(env.method.node, name) for name in names}
        run.drawn.held |= keys if followed else set()
        run.drawn.parameters.update(dict.fromkeys(keys, started) if started is not None else {})
    return followed


def _follow(run: Any, statement: ast.stmt, value: Abs, names: set[str], env: Any) -> bool:
    method = env.method
    if not names or method is None or env.parent is not None or run.in_setup or run.apart:
        return False
    if not isinstance(statement, ast.Assign) or env.source.parents.get(statement) is not method.node:
        return False
    inside = list(subtree(statement.value))
    reads = any(isinstance(n, ast.Name) and _is_started(run, env, n.id) for n in inside)
    if not (reads or any(map(stream_of, inside))) or not _is_of_arrays(value) or value.flags:
        return False
    if any(is_taken(env, name) for name in names) or not all(_bound_in_order(method, name) for name in names):
        return False
    if not _starts_something(method.node, names):
        return False
    keep_stale(run, names, env)
    localized = run.drawn.assignment(run, statement, value, env)
    if localized is None:
        return False
    run.block.steps.append(Local(statement, frozenset(names), localized, env.source))
    return True


def defined(run: Any, node: ast.FunctionDef, env: Any) -> Localized | None:
    """A function within the method as the constructor defines it: for first values alone, where it reads what is drawn."""
    said: Localized | None = run.localize_function(node, env)
    method = env.method
    if method is None:
        return said
    run.drawn.held.discard((method.node, node.name))
    reads = any(isinstance(n, ast.Name) and _is_started(run, env, n.id) for n in subtree(node))
    if said is not None or not reads or env.parent is not None or env.source.parents.get(node) is not method.node:
        return said
    if _starts_something(method.node, {node.name}) and _bound_in_order(method, node.name):
        said = run.drawn.function(run, node, env)
        if said is not None:
            run.drawn.held.add((method.node, node.name))
    return said


def _is_started(run: Any, env: Any, name: str) -> bool:
    return is_held(run, env, name) or parameter(run, env, name) is not None


def _parameter(run: Any, statement: ast.stmt, names: set[str], env: Any) -> Site | None:
    """The parameter that an assignment gives a name: `v = self.param("v", ...)`."""
    method = env.method
    if not isinstance(statement, ast.Assign) or method is None or env.parent is not None or run.in_setup or run.apart:
        return None
    if len(names) != 1 or not all(isinstance(t, ast.Name) for t in statement.targets):
        return None
    site = next((s for s in reversed(run.sites) if s.node is statement.value and s.kind == "param"), None)
    if site is None or site.several or site.loops or site.scopes or site.holder != "self" or LATER in site.renders:
        return None
    own = env.source.parents.get(statement) is method.node and all(_bound_in_order(method, name) for name in names)
    return site if own else None


def _is_of_arrays(value: Abs) -> bool:
    found = value.value
    items = found.items if type(found) is Tup else (found,)
    return not value.static and bool(items) and all(type(item) is Array or item == A_KEY for item in items)


def _starts_something(method: ast.AST, names: set[str]) -> bool:
    """Is there a parameter in the method that may start from what the names, or others that follow from them, hold?

    So that nothing is said of a class none of whose parameters is asked for what is drawn.
    """
    read, more = set(names), True
    nodes = list(subtree(method))
    makers = [n for n in nodes if isinstance(n, ast.Assign | ast.FunctionDef) and n is not method]
    while more:
        found = {name for maker in makers if _reads([maker], read) for name in _bound_by(maker)}
        more, read = bool(found - read), read | found
    for call in (n for n in nodes if isinstance(n, ast.Call)):
        starts = isinstance(call.func, ast.Attribute) and call.func.attr in _STARTING
        given = call.args[1:] if starts else []
        if _reads([*given, *[k.value for k in call.keywords if starts or str(k.arg).endswith("_init")]], read):
            return True
    return False


def _reads(nodes: list[Any], names: set[str]) -> bool:
    loads = (n for node in nodes for n in subtree(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    return any(n.id in names for n in loads)


def _bound_by(maker: ast.Assign | ast.FunctionDef) -> list[str]:
    if isinstance(maker, ast.FunctionDef):
        return [maker.name]
    return [t.id for target in maker.targets for t in subtree(target) if isinstance(t, ast.Name)]


def _bound_in_order(method: Any, name: str) -> bool:
    """Is a name bound by statements of the method's own block alone, one after another?"""
    if any(p.arg == name for p in method.parameters):
        return False
    body, parents = set(method.node.body), method.source.parents
    for node in _of_own_scope(method.node):
        if isinstance(node, ast.Global | ast.Nonlocal | ast.alias | ast.ExceptHandler) and name in _named(node):
            return False
        if isinstance(node, _NESTED) and node.name == name and node not in body:
            return False
        if not isinstance(node, ast.Name) or node.id != name or isinstance(node.ctx, ast.Load):
            continue
        above = parents.get(node)
        while isinstance(above, ast.Tuple | ast.List):
            above = parents.get(above)
        if not isinstance(above, ast.Assign) or above not in body:
            return False
    return True


def _of_own_scope(node: ast.AST) -> Iterator[ast.AST]:
    """What a function's own names are read and bound by: not what functions and comprehensions within it have of theirs."""
    for part in ast.iter_child_nodes(node):
        yield part
        if isinstance(part, (*_NESTED, ast.Lambda, *_COMPREHENSIONS)):
            yield from (n for n in subtree(part) if isinstance(n, ast.Nonlocal | ast.Global))
            yield from (n.target for n in subtree(part) if isinstance(n, ast.NamedExpr))
        else:
            yield from _of_own_scope(part)


def _named(node: ast.AST) -> set[str]:
    if isinstance(node, ast.alias):
        return {(node.asname or node.name).partition(".")[0]}
    if isinstance(node, ast.ExceptHandler):
        return {node.name or ""}
    return set(getattr(node, "names", ()))


__all__ = ["assigned", "defined"]
