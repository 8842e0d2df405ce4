"""What a function is given behind its parameters, and hands on whole: `def norm(kind, *args, **kwargs)`.

    def norm(kind, *args, **kwargs):
      return nn.RMSNorm(*args, **kwargs) if kind == "rms" else nn.LayerNorm(*args, **kwargs)

Each argument keeps the words of the call that gave it, so that the constructor can say them where the layer is made.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ...frozen import frozen
from ...trees import subtree
from ..project.classes import Method
from . import tuple_arguments
from .arguments import Arguments
from .environment import Env, Rest
from .sites import Abs, Table
from .values import Array, Shape, Tup, Unknown, Value


def split(function: ast.FunctionDef | ast.Lambda, names: list[str], arguments: Arguments) -> Rest | None:
    """The arguments of a call that no parameter takes; None where that is not seen, or the function does not only hand
    them on. `names`: the positional parameters, without `self`."""
    spec = function.args
    if (spec.vararg is None and spec.kwarg is None) or arguments.starred() or not _handed_on_whole(function):
        return None
    positional = tuple(arguments.positional[len(names) :])
    own = {*names, *(a.arg for a in spec.kwonlyargs)}
    keywords = tuple((key, node, found) for key, node, found in arguments.keywords if key is not None and key not in own)
    if (positional and spec.vararg is None) or (keywords and spec.kwarg is None):
        return None
    vararg, kwarg = (a.arg if a is not None else "" for a in (spec.vararg, spec.kwarg))
    return Rest(vararg, kwarg, positional, keywords)


@frozen
class Given(Unknown):
    """The `*args` of a method that only hands them on: `args[0]`, `args[1]`, as many as what is called takes."""

    name: str = ""

    def item(self, number: int) -> Array:
        return Array(Shape.argument(f"{self.name}[{number}]"))

    def taken(self, method: Method, before: int, optional: Collection[str]) -> list[Value]:
        """The arrays that a method takes from its parameter number `before` on: those that have no default.

        `optional`: its parameters that may be given None, of which nothing is known.
        """
        found: list[Value] = []
        for number, parameter in enumerate(method.positional[before:]):
            if method.default(parameter.arg) is not None:
                break
            found.append(Unknown("what is handed on") if parameter.arg in optional else self.item(number))
        return found


def of_entry(method: Method) -> Abs:
    """What the `*args` of a method that is followed from its beginning are."""
    count = tuple_arguments.items(method.node, method.vararg)
    if count:  # it takes them apart: `x, mask = args`
        return Abs(Tup(tuple(Array(Shape.argument(f"{method.vararg}[{i}]")) for i in range(count))))
    why = f"*{method.vararg}"
    return Abs(Given(why, method.vararg) if _handed_on_whole(method.node) else Unknown(why))


def _handed_on_whole(function: ast.FunctionDef | ast.Lambda) -> bool:
    """Do `args` and `kwargs` stand in calls alone, as `*args` and `**kwargs`, and not in functions within?"""
    spec = function.args
    names = {a.arg for a in (spec.vararg, spec.kwarg) if a is not None}
    statements = function.body if isinstance(function.body, list) else [function.body]
    handed: set[ast.AST] = set()
    for node in [n for statement in statements for n in subtree(statement)]:
        if isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            return False
        if isinstance(node, ast.Call):
            handed |= {a.value for a in node.args if isinstance(a, ast.Starred)}
            mappings = [k.value for k in node.keywords if k.arg is None]
            handed |= {part for mapping in mappings for _, part in _parts(mapping)}
    said = [n for statement in statements for n in subtree(statement) if isinstance(n, ast.Name) and n.id in names]
    return all(node in handed for node in said)


def expanded(arguments: Arguments, env: Env, evaluated: Mapping[ast.expr, Abs]) -> Arguments:
    """The arguments of a call with `*args` and `**kwargs` as what the function around it was given."""
    if not arguments.starred() or env.rest is None:
        return arguments
    rest = env.rest
    positional: list[Any] = []
    for node, found in arguments.positional:
        whole = isinstance(node, ast.Starred) and isinstance(node.value, ast.Name) and node.value.id == rest.vararg
        positional += rest.positional if whole else [(node, found)]
    keywords: list[Any] = []
    for key, node, found in arguments.keywords:
        written_out = _items(node, rest, evaluated) if key is None else None
        keywords += [(key, node, found)] if written_out is None else written_out
    return dataclasses.replace(arguments, positional=positional, keywords=keywords)


def _items(node: ast.expr, rest: Rest, evaluated: Mapping[ast.expr, Abs]) -> list[tuple[str, ast.expr, Abs]] | None:
    """`**kwargs`, and `**{**defaults(kind), **kwargs}` where `defaults` gives an empty dict: what the function was given."""
    items: dict[str, tuple[str, ast.expr, Abs]] = {}
    for key, part in _parts(node):
        found = evaluated.get(part)
        if key is None and isinstance(part, ast.Name) and part.id == rest.kwarg:
            items.update({keyword[0]: keyword for keyword in rest.keywords})
        elif isinstance(key, ast.Constant) and isinstance(key.value, str) and found is not None:
            items[key.value] = (key.value, part, found)
        elif key is not None or found is None or not isinstance(found.value, Table) or found.value.items:
            return None
    return list(items.values())


def _parts(node: ast.expr) -> Iterator[tuple[ast.expr | None, ast.expr]]:
    """The items of a dict display, those of displays within it among them; None for the key of a part `**mapping`."""
    if not isinstance(node, ast.Dict):
        yield None, node
        return
    for key, value in zip(node.keys, node.values):
        if key is None:
            yield from _parts(value)
        else:
            yield key, value


def place_of(node: ast.expr, env: Env) -> Env:
    """Where an argument stands: in the call that gave it, or in this function."""
    while env.rest is not None and env.caller is not None and env.rest.holds(node):
        env = env.caller
    return env


__all__ = ["Given", "expanded", "of_entry", "place_of", "split"]
