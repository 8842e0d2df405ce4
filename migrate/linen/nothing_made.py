"""Factories that make nothing: `lambda *args: lambda x: x` beside layers, where a field says that there is no norm.

What such a function gives hands its input back. The constructor makes nothing there, and the method says the input itself.
"""

from __future__ import annotations

import ast
import dataclasses

from .sites import Function
from .values import Value


@dataclasses.dataclass(frozen=True, eq=False)
class MakesNothing(Value):
    """A factory that takes any arguments and gives the identity."""


@dataclasses.dataclass(frozen=True, eq=False)
class GivesBack(Value):
    """What it gives: called on some arguments, it returns the first."""


NOTHING = MakesNothing()
IDENTITY = GivesBack()


def makes_nothing(value: Value) -> MakesNothing | None:
    """A function or lambda that takes any arguments, does nothing and returns a function that returns its first."""
    if isinstance(value, MakesNothing):
        return value
    if not isinstance(value, Function) or value.method is not None:
        return None
    node = value.node
    spec = node.args
    if spec.args or spec.posonlyargs or spec.kwonlyargs or spec.vararg is None or spec.kwarg is None:
        return None  # it asks for arguments that the others may not be given
    names = {spec.vararg.arg, spec.kwarg.arg}
    if isinstance(node, ast.Lambda):
        return NOTHING if _is_identity(node.body) else None
    if node.decorator_list:
        return None
    body = _without_noise(node, names)
    if len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value is not None:
        return NOTHING if _is_identity(body[0].value) else None
    if len(body) == 2 and isinstance(body[0], ast.FunctionDef) and isinstance(body[1], ast.Return):
        named = body[1].value
        same = isinstance(named, ast.Name) and named.id == body[0].name
        return NOTHING if same and _is_identity(body[0]) else None
    return None


def _is_identity(node: ast.AST) -> bool:
    """Does a function return its first argument, whatever else it is given?"""
    if not isinstance(node, ast.Lambda | ast.FunctionDef):
        return False
    spec = node.args
    places = [*spec.posonlyargs, *spec.args]
    if not places or len(places) - len(spec.defaults) > 1 or any(d is None for d in spec.kw_defaults):
        return False
    first = places[0].arg
    if isinstance(node, ast.Lambda):
        return isinstance(node.body, ast.Name) and node.body.id == first
    others = {a.arg for a in [*places[1:], *spec.kwonlyargs, spec.vararg, spec.kwarg] if a is not None}
    body = [] if node.decorator_list else _without_noise(node, others)
    if len(body) != 1 or not isinstance(body[0], ast.Return):
        return False
    given = body[0].value
    return isinstance(given, ast.Name) and given.id == first


def _without_noise(node: ast.FunctionDef, unused: set[str]) -> list[ast.stmt]:
    """The statements of a function without its docstring and `del args`."""
    found = []
    for statement in node.body:
        described = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        deleted = isinstance(statement, ast.Delete) and all(
            isinstance(n, ast.Name) and n.id in unused
            for target in statement.targets
            for n in (target.elts if isinstance(target, ast.Tuple) else [target])
        )
        if not (described or deleted or isinstance(statement, ast.Pass)):
            found.append(statement)
    return found


__all__ = ["IDENTITY", "NOTHING", "GivesBack", "MakesNothing", "makes_nothing"]
