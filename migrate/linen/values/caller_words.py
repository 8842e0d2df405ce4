"""What a function says of its arguments, in the words of the class that calls it: `not train` for `get_norm(k, train)`.

A flag that NNX takes at the call is said there, in the class's own method, where the function's names mean nothing.
"""

from __future__ import annotations

import ast
import copy
from typing import Any

from ...source import SourceFile
from ...trees import subtree
from .environment import Env
from .values import Const, Int

_PURE = frozenset({"get", "lower", "upper", "strip"})


def note(inner: Env, nodes: dict[str, ast.expr], caller: Env) -> None:
    """Remember what the arguments of a function are in the words of its caller."""
    inner.words = {name: (node, caller, inner.names[name]) for name, node in nodes.items() if name in inner.names}


def reading(targets: list[ast.expr], node: ast.expr, env: Env) -> Env | None:
    """What names hold before `kind = config.model.norm` or `kind = kind.lower()`; None for other assignments."""
    if len(targets) != 1 or not isinstance(targets[0], ast.Name) or not _only_reads(node):
        return None
    before = env.copy()
    before.words = dict(env.words)
    return before


def note_local(read: Env | None, targets: list[ast.expr], node: ast.expr, env: Env) -> None:
    """Remember what a function reads under a name of its own; `read`: what its names held when it did."""
    target = targets[0]
    if read is not None and isinstance(target, ast.Name):
        env.words[target.id] = (node, read, env.names[target.id])


def _only_reads(node: ast.expr) -> bool:
    """Is it an item or attribute of something, as often as it is asked for?"""
    if isinstance(node, ast.Call):
        plain = isinstance(node.func, ast.Attribute) and node.func.attr in _PURE and not node.keywords
        return plain and all(_only_reads(n) for n in (node.func.value, *node.args))  # type: ignore[attr-defined]
    if isinstance(node, ast.Subscript):
        return _only_reads(node.value) and _only_reads(node.slice)
    return isinstance(node, ast.Name | ast.Constant) or (isinstance(node, ast.Attribute) and _only_reads(node.value))


def said(run: Any, node: ast.expr, env: Env) -> tuple[ast.expr, SourceFile]:
    """The expression in the words of the method that calls the function, which no file holds; the expression itself where
    it stands in a method, or cannot be said there.
    """
    home = None if in_method(env) else home_of(env)
    if home is None:
        return node, env.source
    try:
        made: ast.expr = _said(run, copy.deepcopy(node), env, home)
    except _Unsaid:
        return node, env.source
    ast.fix_missing_locations(made)
    run.in_words[made] = node
    return made, home.source


class _Unsaid(Exception):
    """A name of the function that its caller does not know."""


def _said(run: Any, node: Any, env: Env, home: Env) -> Any:
    if isinstance(node, ast.Name):
        return _name(run, node, env, home)
    if isinstance(node, ast.Lambda | ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp | ast.NamedExpr):
        raise _Unsaid  # names of its own
    parts = (ast.expr, ast.keyword)
    for field, value in ast.iter_fields(node):
        if isinstance(value, parts):
            setattr(node, field, _said(run, value, env, home))
        elif isinstance(value, list):
            setattr(node, field, [_said(run, v, env, home) if isinstance(v, parts) else v for v in value])
    return node


def _name(run: Any, node: ast.Name, env: Env, home: Env) -> ast.expr:
    owner: Env | None = env
    while owner is not None and node.id not in owner.names:
        owner = owner.parent
    if owner is None:
        if env.source is not home.source:
            raise _Unsaid  # a name of another file
        return node
    held = owner.names[node.id]
    if in_method(owner):
        run.evaluated[node] = held
        return node
    given = owner.words.get(node.id)
    if given is not None and given[2] is held:
        made: ast.expr = _said(run, copy.deepcopy(given[0]), given[1], home)
        return made
    if isinstance(held.value, Const):
        return ast.Constant(held.value.value)  # type: ignore[arg-type]
    if isinstance(held.value, Int) and held.value.dim.value is not None:
        return ast.Constant(held.value.dim.value)
    raise _Unsaid


def asks_own_names(node: ast.expr, env: Env) -> bool:
    """Does the text of a function ask for what the function itself keeps under a name?"""
    return any(isinstance(n, ast.Name) and env.is_local(n.id) for n in subtree(node))


def in_method(env: Env) -> bool:
    """Does the text stand in a method, also in a function inside of it?"""
    at: Env | None = env
    while at is not None:
        if at.method is not None:
            return True
        at = at.parent
    return False


def home_of(env: Env) -> Env | None:
    """The environment of the method that the calls of functions lead back to."""
    at: Env | None = env
    while at is not None and not in_method(at):
        outer: Env | None = at
        while outer is not None and outer.caller is None:
            outer = outer.parent
        at = outer.caller if outer is not None else None
    return at


__all__ = ["asks_own_names", "home_of", "in_method", "note", "note_local", "reading", "said"]
