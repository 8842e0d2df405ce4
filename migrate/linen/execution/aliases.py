"""Lists and dicts with several names: what is changed through one name is changed for the others, too."""

from __future__ import annotations

import ast
import dataclasses
import functools
from collections.abc import Iterable
from typing import Any

from ...trees import subtree
from ..lists import size_lists
from ..lists.chains import Chain
from ..values import mutation
from ..values.arguments import parameters_of, stored_names
from ..values.merging import Either
from ..values.sites import Abs, Module, ModuleField, Repeated, SomeItems, Static, Table
from ..values.values import ShapeOf, Tup, Unknown, Value
from .stale_names import lose_in_setup

_VIEWS = frozenset({"setdefault", "get", "keys", "values", "items"})
_NUMPY = frozenset({"np", "numpy", "onp"})
_LIBRARIES = _NUMPY | {"jax", "jnp", "lax", "nn"}
_VIEWS_OF_ARRAYS = frozenset(
    {"asarray", "atleast_1d", "atleast_2d", "broadcast_to", "diagonal", "expand_dims", "moveaxis", "ravel", "reshape"}
    | {"squeeze", "swapaxes", "transpose", "view"}
)
_WALKS = frozenset({"enumerate", "zip", "reversed"})


@functools.lru_cache(maxsize=16384)
def _groups(function: ast.AST) -> dict[str, frozenset[str]]:
    """Name → the names of a function that may be the same object, by its assignments and loops."""
    found: dict[str, frozenset[str]] = {}
    for node in subtree(function):
        if isinstance(node, ast.Assign):
            pairs = [(target, node.value) for target in node.targets]
            pairs += [(target, node.targets[0]) for target in node.targets[1:]]  # `a = b = []`
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            pairs = [(node.target, node.value)]
        elif isinstance(node, ast.For | ast.comprehension):
            pairs = [(node.target, node.iter)]
        else:
            continue
        loop = isinstance(node, ast.For | ast.comprehension)
        for target, value in (part for pair in pairs for part in _parts(*pair, loop)):
            names = set(held(value))
            if not names:
                continue
            names |= set(stored(target)) - {"self"}
            group = frozenset(names).union(*[found.get(name, frozenset()) for name in names])
            found.update(dict.fromkeys(group, group))
    return found


def with_others(functions: Iterable[ast.AST], names: Iterable[str]) -> frozenset[str]:
    """The names, and all that may be the same objects in functions within one another."""
    found = frozenset(names)
    for function in functions:
        groups = _groups(function)
        found = found.union(*[groups.get(name, frozenset()) for name in found])
    return found


def _parts(target: ast.expr, value: ast.expr, loop: bool) -> Iterable[tuple[ast.expr, ast.expr]]:
    """Each name with what it alone is given: `a, b = c, d` and `for a, b in zip(c, d)` do not make c and d one."""
    given: list[ast.expr] | None = None
    if not loop and isinstance(value, ast.Tuple | ast.List):
        given = value.elts
    elif loop and isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        if value.func.id == "zip":
            given = value.args
        elif value.func.id == "enumerate" and value.args:
            given = [ast.Constant(0), value.args[0]]
    targets = target.elts if isinstance(target, ast.Tuple | ast.List) else []
    if given is None or len(given) != len(targets) or any(isinstance(n, ast.Starred) for n in [*given, *targets]):
        yield target, value
        return
    for one, part in zip(targets, given):
        yield from _parts(one, part, loop)


def stored(target: ast.expr) -> Iterable[str]:
    """The names whose objects an assignment sets or changes; what an item is found by is not among them."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Attribute | ast.Subscript | ast.Starred):
        yield from stored(target.value)
    elif isinstance(target, ast.Tuple | ast.List):
        for element in target.elts:
            yield from stored(element)
    else:
        yield from (n.id for n in subtree(target) if isinstance(n, ast.Name))


@functools.lru_cache(maxsize=16384)
def held(value: ast.expr) -> frozenset[str]:
    """Names whose objects an expression gives as they are, or views of them, or within a new list or dict."""
    return frozenset(_held(value))


def _held(value: ast.expr) -> Iterable[str]:
    if isinstance(value, ast.Name):
        if value.id != "self":
            yield value.id
    elif isinstance(value, ast.Tuple | ast.List | ast.Set):
        for element in value.elts:
            yield from _held(element)
    elif isinstance(value, ast.Dict):
        for key, element in zip(value.keys, value.values):
            if key is not None:
                yield from _held(element)
    elif isinstance(value, ast.IfExp):
        yield from _held(value.body)
        yield from _held(value.orelse)
    elif isinstance(value, ast.BoolOp):
        for element in value.values:
            yield from _held(element)
    elif isinstance(value, ast.NamedExpr | ast.Subscript):
        yield from _held(value.value)
    elif isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in _WALKS:
        for element in value.args:
            yield from _held(element)
    elif isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        owner = value.func.value
        library = owner.id if isinstance(owner, ast.Name) and owner.id in _LIBRARIES else ""
        if value.func.attr in _VIEWS_OF_ARRAYS and library:  # JAX gives new arrays
            yield from _held(value.args[0]) if value.args and library in _NUMPY else ()
        elif value.func.attr in _VIEWS or value.func.attr in _VIEWS_OF_ARRAYS:
            yield from _held(owner)


@functools.lru_cache(maxsize=16384)
def changed_parameters(function: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    """Parameters (and names of around it) that a function changes in place."""
    found: set[str] = set()
    for node in subtree(function):
        if isinstance(node, ast.stmt):
            found |= mutation.changed_names(node)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            found |= {node.target.id} if not isinstance(node.value, ast.Tuple | ast.Constant) else set()
    return with_others([function], found)


@functools.lru_cache(maxsize=16384)
def _set_around(function: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    """Names of around a function whose items it sets: `table[key] = value`."""
    found: set[str] = set()
    for node in subtree(function):
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            root: ast.expr = node
            while isinstance(root, ast.Subscript):
                root = root.value
            found |= {root.id} if isinstance(root, ast.Name) else set()
    if not found:
        return frozenset()
    return frozenset(found) - stored_names(function) - set(parameters_of(function))


def _grown(statement: ast.stmt, env: Any) -> set[str]:
    """`sizes += [3]` changes the list."""
    if not isinstance(statement, ast.AugAssign) or not isinstance(statement.target, ast.Name):
        return set()
    held = env.get(statement.target.id)
    listed = isinstance(statement.value, ast.List | ast.ListComp)
    grown = listed or (held is not None and not isinstance(held.value, Static) and _is_changeable(held.value))
    return {statement.target.id} if grown else set()


def _is_changeable(value: Value) -> bool:
    if isinstance(value, Tup | ShapeOf):
        return value.kind != "tuple"
    return isinstance(value, Table | SomeItems | Repeated | Chain | size_lists.SizeList | Static)


def forget_others(run: Any, statement: ast.stmt, env: Any) -> None:
    """After a statement that changes an object in place: nothing is known of it under its other names."""
    if not isinstance(statement, ast.Expr | ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Delete | ast.Return):
        return
    changed = mutation.changed_names(statement) | _grown(statement, env)
    if run.in_setup:  # what was said of them would say something else from here on
        changed |= {n.target.id for n in [statement] if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)}
        lose_in_setup(run, {*with_others(run.active, changed)}, env)
    if not changed:
        return
    forget(run, with_others(run.active, changed) - changed, env)


def forget_given(run: Any, function: ast.FunctionDef | ast.Lambda, arguments: dict[str, ast.expr], env: Any) -> None:
    """After the call of a function that changes its arguments: nothing is known of what was given for them."""
    changed = changed_parameters(function)
    names = {n for p, given in arguments.items() if p in changed for n in held(given)}
    forget(run, with_others(run.active, names), env)


def forget_around(run: Any, function: ast.FunctionDef | ast.Lambda, env: Any) -> None:
    """After the call of a function in a method: nothing is known of the lists and dicts around it whose items it sets."""
    names = _set_around(function)
    forget(run, with_others(run.active if names else (), names), env)


def forget(run: Any, names: Iterable[str], env: Any) -> None:
    for name in names:
        scope = mutation.scope_of(name, env)
        held = scope.names.get(name)
        view = held is not None and held.static and type(held.value) is Unknown  # `names = table.keys()`
        if held is None or not (view or _is_changeable(held.value)):
            continue
        if run.holds_module(held.value) and isinstance(held.value, Repeated):
            scope.names[name] = dataclasses.replace(held, value=held.value.disordered())
            continue
        if run.holds_module(held.value) and not _is_list_of_modules(held.value):
            continue
        if run.in_setup:  # setup is the constructor: what it says stays said, and only lists of modules are followed
            if run.holds_module(held.value) or isinstance(held.value, Tup | Table | SomeItems):
                scope.names[name] = dataclasses.replace(held, value=Unknown(name))
            continue
        size_lists.broken(run, {size_lists.variable_of(held.value)} - {""})
        scope.local.discard(name)
        scope.names[name] = Abs(Unknown(name), False, held.flags)


def _is_list_of_modules(value: Value) -> bool:
    if isinstance(value, Chain):
        return True
    return isinstance(value, Tup) and all(isinstance(item, Module | ModuleField | Either) for item in value.items)


__all__ = ["changed_parameters", "forget", "forget_around", "forget_given", "forget_others", "held", "stored", "with_others"]
