"""Statements that change a list or an array in place: `shape.append(n)`, `shape[0] = 1`, `mask[k] *= 2`.

A name that the constructor holds too must change there as well, or stop being one of the constructor's.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import weakref
from collections.abc import Mapping, Set
from typing import Any

from ...trees import subtree
from ..lists import size_lists
from .bundles import Bundle
from .sites import Abs, InitPart, Local, Localized, Repeated, SomeItems, Static, Table
from .values import Array, Const, Int, ShapeOf, Tup, Unknown, Value

CHANGING = frozenset(
    {"append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse", "update", "setdefault", "fill", "add"}
    | {"discard", "appendleft", "extendleft", "popleft", "popitem", "rotate", "move_to_end", "subtract"}
    | {"difference_update", "intersection_update", "symmetric_difference_update"}
)
_OF_LISTS = frozenset({"append", "extend", "insert", "remove", "sort", "reverse"})


@functools.lru_cache(maxsize=16384)
def changed_names(statement: ast.stmt) -> frozenset[str]:
    """Names of objects that a simple statement changes in place."""
    if not isinstance(statement, ast.Expr | ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Delete | ast.Return):
        return frozenset()
    found: set[str] = set()
    for node in subtree(statement):
        if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
            found.add(root_name(node))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING:
            found.add(root_name(node.func))
    return frozenset(found - {"self", ""})


@functools.lru_cache(maxsize=16384)
def changed_anywhere(function: ast.AST) -> frozenset[str]:
    """Names of objects that some statement of a function changes in place."""
    return frozenset().union(*[changed_names(s) for s in subtree(function) if isinstance(s, ast.stmt)])


def changes(statement: ast.stmt, env: Any) -> bool:
    """Does the method change later on, in place, what this statement assigns?"""
    if env.method is None:
        return False
    stored = {n.id for n in subtree(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return bool(stored & changed_anywhere(env.method.node))


_fixed: weakref.WeakKeyDictionary[object, dict[str, bool]] = weakref.WeakKeyDictionary()  # projects


def is_fixed(project: Any, qualname: str) -> bool:
    """Is a value of a file what it was made as, whatever code ran: bound once, and nowhere changed in place?"""
    known = _fixed.setdefault(project, {})
    if qualname not in known:
        known[qualname] = _stays(project, qualname)
    return known[qualname]


def _stays(project: Any, qualname: str) -> bool:
    module, _, name = qualname.rpartition(".")
    own = project.files[module]
    bound = sum(own.names.bound_by(node) is None for node in own.names.binders(name))
    if bound != 1 or name in own.names.file_imports:
        return False  # which of several it is depends on what ran
    return not is_changed(project, qualname)


def is_changed(project: Any, qualname: str) -> bool:
    """Does code of the project change, in place or by another value, what has this dotted name?"""
    name = qualname.rpartition(".")[2]
    for source in project.files.values():
        if name not in source.words:
            continue
        for node in (n for kind in (ast.Subscript, ast.Attribute) for n in source.by_kind.get(kind, ())):
            stored = not isinstance(node.ctx, ast.Load)
            changed = [node.value] if stored or (isinstance(node, ast.Attribute) and node.attr in CHANGING) else []
            changed += [node] if stored and getattr(node, "attr", "") == name else []  # `sizes.WIDTH = 8`
            named = (one for one in changed if isinstance(one, ast.Name | ast.Attribute))
            if any(project.qualname(source, one) == qualname for one in named):
                return True
    return False


def root_name(node: ast.expr) -> str:
    """`config` of `config.sizes[0]`; nothing where it begins with no name."""
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    if isinstance(node, ast.NamedExpr):  # `(sizes := list(given)).append(3)`
        node = node.target
    return node.id if isinstance(node, ast.Name) else ""


def record(run: Any, statement: ast.stmt, names: frozenset[str], env: Any) -> None:
    """Copy the change to the constructor; where it cannot be said there, the names are the method's alone."""
    scopes = {name: scope_of(name, env) for name in names}
    for name, scope in scopes.items():
        scope.local.add(name)
    modules = any(run.holds_module(scope.names[name].value) for name, scope in scopes.items() if name in scope.names)
    taken = not run.in_setup and any(scope.is_taken(name) for name, scope in scopes.items())
    localized = _localized(run, statement, env) if len(names) == 1 and not modules and not taken else None
    for name, scope in scopes.items():
        held = scope.names.get(name) or Abs(Unknown(name))
        if localized is None:
            scope.local.discard(name)
            followed = _sets_item(statement, held.value)
            followed |= _is_append(statement) and isinstance(held.value, Tup | Repeated)
            known = isinstance(held.value, Array) or run.holds_module(held.value) or followed
            scope.names[name] = Abs(held.value if known else Unknown(name), False, held.flags)
            continue
        followed = _sets_item(statement, held.value) or (_is_append(statement) and isinstance(held.value, Tup))
        kept = isinstance(held.value, Array) or followed
        if not kept and _changes_list(statement) and not held.flags:  # from here on the name means the list as it is now
            scope.names[name] = Abs(Static(name, frozenset({name}), True), True)
        else:
            scope.names[name] = Abs(held.value if kept else Unknown(name), False, held.flags)
        last = run.block.steps[-1] if run.block.steps else None
        both = names
        if isinstance(last, Local) and last.statement is statement and not last.changes:  # `n = sizes.pop()`
            run.block.steps.pop()
            both |= last.names
        run.block.steps.append(Local(statement, both, localized, env.source, changes=True))


def _changes_list(statement: ast.stmt) -> bool:
    """`sizes.insert(0, n)`: whatever the name holds, it is a list."""
    call = statement.value if isinstance(statement, ast.Expr | ast.Assign) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    return call.func.attr in _OF_LISTS or (call.func.attr == "pop" and not call.keywords and len(call.args) < 2)


def no_arrays(lists: Mapping[str, Abs | None], known: set[str], env: Any) -> set[str]:
    """The lists that were taken for lists of arrays and are none after a statement: `shape = []`, `shape.append(1)`.

    One with arrays, functions or modules in it is the constructor's no more: it has none of them.
    """
    found = set[str]()
    for name, before in lists.items():
        now = env.get(name)
        if before is None or name in known or now is None or size_lists.variable_of(now.value):
            continue
        if isinstance(before.value, Tup) and not before.value.items and _has_sizes(now.value):
            found.add(name)
        else:
            scope_of(name, env).local.discard(name)
    return found


def _is_list_of_sizes(held: Value) -> bool:
    return isinstance(held, ShapeOf) or (isinstance(held, Tup) and all(isinstance(i, Int | Const) for i in held.items))


def _has_sizes(listed: Value) -> bool:
    """Is nothing in a list that the constructor could not have put there?"""
    if isinstance(listed, Repeated):
        return _has_sizes(listed.element)
    if isinstance(listed, Tup):
        return all(_has_sizes(item) for item in listed.items)
    return isinstance(listed, Int | Static | Const | Unknown)


def forget_object(run: Any, statement: ast.stmt, env: Any) -> None:
    """`config.size = 8` in setup: what `config` was made of says nothing of it any more."""
    if not run.in_setup:
        return
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    for target in targets if isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign) else ():
        name = root_name(target) if isinstance(target, ast.Attribute) else ""
        if name and name != "self":
            scope = scope_of(name, env)
            held = scope.names.get(name)
            if held is not None and isinstance(held.value, Static | Bundle):
                scope.names[name] = Abs(Unknown(name), False, held.flags)


def forget_items(run: Any, statement: ast.stmt, names: frozenset[str], env: Any) -> None:
    """Dicts that a call or `del` changes, lists of sizes that `+=` does: nothing is known of their items any more."""
    if not names:
        return
    called = {
        node.func.value.id
        for node in subtree(statement)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name)
    }
    for name in names if isinstance(statement, ast.AugAssign) else ():  # `sizes[0] *= 2`
        scope = scope_of(name, env)
        held = scope.names.get(name)
        if held is not None and _is_list_of_sizes(held.value):
            scope.names[name] = Abs(Unknown(name), False, held.flags)
    for name in names if isinstance(statement, ast.Delete) else names & called:
        scope = scope_of(name, env)
        held = scope.names.get(name)
        if held is not None and isinstance(held.value, Table | SomeItems) and not run.holds_module(held.value):
            if not any(run.holds_module(item) for item in held.value.items.values()):
                scope.names[name] = Abs(Unknown(name), False, held.flags)


def leave_to_the_call(start: Any, after: Any, targets: Set[str]) -> bool:
    """Names that a pass of a loop gives what the constructor cannot say are the call's alone from the first pass on."""
    gone = {n for n in start.names if n in start.local and n not in targets and n in after.names and n not in after.local}
    for name in gone:
        start.local.discard(name)
        start.names[name] = dataclasses.replace(start.names[name], static=False)
    return bool(gone)


def forget_name(name: str, value: Abs, env: Any) -> Abs:
    """A comprehension gives a name of the function around it another value in every pass (`[w := w + 1 for ...]`)."""
    scope = env
    while scope is not None:
        scope.local.discard(name)
        scope.names[name] = Abs(Unknown(name), False, value.flags)
        scope = scope.parent
    return Abs(Unknown(name), False, value.flags)


def _is_append(statement: ast.stmt) -> bool:
    """`items.append(x)`: the execution has followed it."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "append"


def _sets_item(statement: ast.stmt, held: Value) -> bool:
    """`table["key"] = x`: the execution has followed it."""
    return isinstance(statement, ast.Assign) and isinstance(held, Table | SomeItems)


def scope_of(name: str, env: Any) -> Any:
    while env.parent is not None and name not in env.names:
        env = env.parent
    return env


def _localized(run: Any, statement: ast.stmt, env: Any) -> Localized | None:
    """The statement as the constructor says it: what is changed and every part of the change."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        if not isinstance(call.func, ast.Attribute):
            return None
        parts: list[ast.expr] = [call.func.value, *call.args, *[k.value for k in call.keywords]]
    elif isinstance(statement, ast.Assign):
        parts = [*statement.targets, statement.value]
    elif isinstance(statement, ast.AugAssign):
        parts = [statement.target, statement.value]
    else:
        return None
    replaced: list[tuple[Any, tuple[InitPart, ...]]] = []
    needs: set[str] = set()
    for part in parts:
        for child in subtree(part):
            if isinstance(child, ast.Subscript):
                run._index(child.slice, env)
        if not run._localize(part, env, frozenset(), replaced, needs):
            return None
    return Localized(env.source.span(statement), env.source, tuple(replaced), frozenset(needs))
