"""What names hold for the constructor where expressions of the call take items of it, or change it: nothing.

Beside what `consumed` sees in a function's own text, these are objects that it hands to functions which change them
(`nn.Dense(bump(counts))`), and objects of the project's classes whose methods do (`nn.Dense(config.wider().size)`).
"""

from __future__ import annotations

import ast
import weakref
from collections.abc import Iterator
from typing import Any

from ...source import SourceFile
from ...trees import of_kind, subtree
from ..values import consumed
from ..values.arguments import parameters_of
from ..values.mutation import CHANGING
from ..values.sites import Abs, Variable
from ..values.values import Array, Tup, Unknown, Value
from . import aliases
from .given_objects import changed_by_call

# Of each execution: function → its names.
_KNOWN: weakref.WeakKeyDictionary[Any, dict[ast.FunctionDef, frozenset[str]]] = weakref.WeakKeyDictionary()


def lose(run: Any, place: ast.AST, bound: set[str], value: Abs, env: Any) -> Abs | None:
    """The value that names get instead, which nobody can say. None for arrays, variables, modules and other names."""
    function = env.source.function_of(place)
    if function is None or run.holds_module(value.value) or _holds_arrays(value.value):
        return None
    taken = bound & (consumed.names(function) | _by_calls(run, env.source, function))
    return Abs(Unknown(f"`{min(taken)}`, of which expressions take items"), False, value.flags) if taken else None


def _holds_arrays(value: Value) -> bool:
    if isinstance(value, Tup):
        return not value.items or any(map(_holds_arrays, value.items))
    return isinstance(value, Array | Variable)


def _by_calls(run: Any, source: SourceFile, function: ast.FunctionDef) -> frozenset[str]:
    known = _KNOWN.setdefault(run, {})
    if function not in known:
        known[function] = aliases.with_others([function], set(_found(run, source, function)))
    return known[function]


def _found(run: Any, source: SourceFile, function: ast.FunctionDef) -> Iterator[str]:
    # A statement of setup stands in the constructor as it is, one that calls functions of a call does not.
    alone = set(consumed.statements_calls(function)) if function.name == "setup" else set()
    inner = {n.name: n for n in of_kind(function, ast.FunctionDef) if n is not function}
    objects = dict(_objects(run, source, function))
    for call in of_kind(function, ast.Call):
        func = call.func
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
            if func.attr in objects.get(func.value.id, ()):
                yield func.value.id
        if isinstance(func, ast.Name) and func.id in inner:
            changed = aliases.changed_parameters(inner[func.id])
            given = [*zip(parameters_of(inner[func.id]), call.args), *[(k.arg, k.value) for k in call.keywords if k.arg]]
            yield from (n for parameter, node in given if parameter in changed for n in aliases.held(node))
        elif call not in alone:
            yield from changed_by_call(run, source, call)[0]


def _objects(run: Any, source: SourceFile, function: ast.FunctionDef) -> Iterator[tuple[str, frozenset[str]]]:
    """Names of objects of the project's classes, with those of their methods that change them."""
    for statement in of_kind(function, ast.Assign):
        name = run.project.qualname(source, statement.value.func) if isinstance(statement.value, ast.Call) else None
        found = run.project.definition(name) if name is not None and name not in run.project.linen_classes else None
        if found is None or not isinstance(found[1], ast.ClassDef):
            continue
        methods = [m for m in found[1].body if isinstance(m, ast.FunctionDef)]
        changing = frozenset(m.name for m in methods if any(map(_changes_self, subtree(m)))) - {"__init__", "__post_init__"}
        if changing:
            yield from ((t.id, changing) for t in statement.targets if isinstance(t, ast.Name))


def _changes_self(node: ast.AST) -> bool:
    """`self.width += 1`, `self.sizes[0] = 2`, `self.sizes.append(3)`"""
    changed: ast.AST | None = None
    if isinstance(node, ast.Call):
        func = node.func
        changed = func.value if isinstance(func, ast.Attribute) and func.attr in CHANGING else None
    elif isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
        changed = node
    while isinstance(changed, ast.Attribute | ast.Subscript):
        changed = changed.value
    return isinstance(changed, ast.Name) and changed.id == "self"


__all__ = ["lose"]
