"""Factories that make nothing: `lambda *args: lambda x: x` beside layers, where a field says that there is no norm.

What such a function gives hands its input back. The constructor makes nothing there, and the method says the input itself.
"""

from __future__ import annotations

import ast
from collections.abc import Collection

from ...edits import Span
from ...frozen import frozen
from .sites import Function
from .values import Value


@frozen(eq=False)
class MakesNothing(Value):
    """A factory that gives the identity; `spec`: the arguments that it takes, None where it takes any.

    `function`: what says so.
    """

    spec: ast.arguments | None = None
    function: Function | None = None

    @property
    def is_narrow(self) -> bool:
        """Are there arguments of a layer that it does not take?"""
        return self.spec is not None

    def wider(self) -> tuple[Function, Span, str] | None:
        """Where `lambda:` says its arguments, and the text by which it takes any; None for one that has names of its own."""
        spec, function = self.spec, self.function
        if spec is None or function is None or not isinstance(function.node, ast.Lambda):
            return None
        if spec.posonlyargs or spec.args or spec.kwonlyargs:
            return None
        start = function.source.span(function.node).start + len("lambda")
        end = function.source.text.index(":", start)
        names = [a.arg if a is not None else other for a, other in ((spec.vararg, "args"), (spec.kwarg, "kwargs"))]
        return function, Span(start, end), f" *{names[0]}, **{names[1]}"

    def takes(self, positional: int, keywords: Collection[str | None]) -> bool:
        """Can it be called with so many arguments and these keywords?"""
        spec = self.spec
        if spec is None:
            return True
        if None in keywords:
            return False
        places = [a.arg for a in (*spec.posonlyargs, *spec.args)]
        filled = places[:positional]
        named = [*places[len(spec.posonlyargs) :], *[a.arg for a in spec.kwonlyargs]]
        known = all(k in named and k not in filled for k in keywords) or (
            spec.kwarg is not None and not any(k in filled for k in keywords)
        )
        needed = places[: len(places) - len(spec.defaults)]
        needed += [a.arg for a, default in zip(spec.kwonlyargs, spec.kw_defaults) if default is None]
        enough = all(n in filled or n in keywords for n in needed)
        return known and enough and (positional <= len(places) or spec.vararg is not None)


@frozen(eq=False)
class GivesBack(Value):
    """What it gives: called on some arguments, it returns the first."""


NOTHING = MakesNothing()
IDENTITY = GivesBack()


def makes_nothing(value: Value) -> MakesNothing | None:
    """A function or lambda that does nothing and returns a function that returns its first argument."""
    if isinstance(value, MakesNothing):
        return value
    if not isinstance(value, Function) or value.method is not None:
        return None
    node = value.node
    spec = node.args
    named = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs]
    names = {a.arg for a in (*named, spec.vararg, spec.kwarg) if a is not None}
    made = NOTHING if not named and spec.vararg is not None and spec.kwarg is not None else MakesNothing(spec, value)
    if isinstance(node, ast.Lambda):
        return made if _is_identity(node.body) else None
    if node.decorator_list:
        return None
    body = _without_noise(node, names)
    if len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value is not None:
        return made if _is_identity(body[0].value) else None
    if len(body) == 2 and isinstance(body[0], ast.FunctionDef) and isinstance(body[1], ast.Return):
        given = body[1].value
        same = isinstance(given, ast.Name) and given.id == body[0].name
        return made if same and _is_identity(body[0]) else None
    return None


def gives_back(value: Value) -> bool:
    """Is it a function that returns its first argument, whatever else it is given?"""
    return isinstance(value, GivesBack) or (isinstance(value, Function) and not value.method and _is_identity(value.node))


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


__all__ = ["IDENTITY", "NOTHING", "GivesBack", "MakesNothing", "gives_back", "makes_nothing"]
