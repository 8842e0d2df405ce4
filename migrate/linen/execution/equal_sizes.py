"""Sizes that a condition compares: `if y.shape[-1] != x.shape[-1]: x = jnp.pad(x, ...)`.

On the side where they are equal a size has the name that it has on the other, so that one name says what both give.
A time that is made a vector where it is a scalar (`if t.ndim == 0: t = jnp.full((len(x),), t)`) is taken to be a vector
otherwise.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator
from typing import Any

from ...trees import subtree
from ..evidence.ranks import asked_rank
from ..values.arguments import stored_names
from ..values.dims import Dim
from ..values.environment import Env, Returned
from ..values.sites import Abs, Static
from ..values.values import Array, Int, Shape, ShapeOf, Tup, Value

_Pairs = set[tuple[Dim, Dim]]


def one_name(run: Any, node: ast.If, sides: tuple[Env, Env], returned: tuple[Returned, Returned]) -> None:
    """Rename sizes on the side of a condition (it holds, or not) where it says that two are equal."""
    changed = stored_names(node)
    for number, holds in enumerate((True, False)):
        found = [p for p in _equal(run, node.test, holds) if not (p[0].dependencies() | p[1].dependencies()) & changed]
        pairs = {*found, *((b, a) for a, b in found)}
        if not pairs:
            continue
        here, there = sides[number].names, sides[1 - number].names
        for name, value in here.items():
            other = there.get(name)
            if other is not None and other is not value:
                here[name] = _renamed(value, other, pairs)
        own, others = returned[number].values, returned[1 - number].values
        if len(own) == 1 and len(others) == 1:
            returned[number].values[:] = [_renamed(own[0], others[0], pairs)]


def one_rank(node: ast.If, then: Env, orelse: Env) -> None:
    """The rank of an argument that a condition gives one where it is a scalar, if it is not asked again."""
    asked = asked_rank(node.test)
    if asked is None or asked[1] != 0:
        return
    given, other = (env.get(asked[0]) for env in (then, orelse))
    if given is None or other is None or not (type(given.value) is type(other.value) is Array):
        return
    rank = given.value.shape.rank
    implied = other.value.shape.implied_rank(rank) if rank is not None and other.value.shape.rank is None else None
    if implied is not None and implied[1] >= 0 and not _asked_behind(then, node, asked[0]):
        shape = other.value.shape.with_rank(*implied)
        orelse.names[asked[0]] = dataclasses.replace(other, value=dataclasses.replace(other.value, shape=shape))


def _asked_behind(env: Env, node: ast.If, name: str) -> bool:
    """Does the function look at the rank of an array once more?"""
    function = env.source.function_of(node)
    for part in subtree(function) if function is not None else ():
        if isinstance(part, ast.expr) and part.lineno > (node.end_lineno or 0):
            plain = isinstance(part, ast.Attribute) and part.attr == "ndim" and ast.unparse(part.value) == name
            asked = asked_rank(part)
            if plain or (asked is not None and asked[0] == name):
                return True
    return False


def _equal(run: Any, test: ast.expr, holds: bool) -> Iterator[tuple[Dim, Dim]]:
    """The sizes that are equal where `test` holds, or does not."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _equal(run, test.operand, not holds)
    elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) is holds:
        for part in test.values:
            yield from _equal(run, part, holds)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq if holds else ast.NotEq):
        one, other = (run.evaluated.get(node) for node in (test.left, test.comparators[0]))
        if one is not None and other is not None:
            yield from _pairs(*(run.plain(v.value) if isinstance(v.value, Static) else v.value for v in (one, other)))


def _pairs(a: Value, b: Value) -> Iterator[tuple[Dim, Dim]]:
    if isinstance(a, Int) and isinstance(b, Int):
        if a.dim != b.dim:
            yield a.dim, b.dim
    elif isinstance(a, Tup) and isinstance(b, Tup) and len(a.items) == len(b.items):
        for x, y in zip(a.items, b.items):
            yield from _pairs(x, y)
    elif isinstance(a, ShapeOf) and isinstance(b, ShapeOf):
        for one, other in zip(reversed(a.shape.dims), reversed(b.shape.dims)):
            if one is not None and other is not None and one != other:
                yield one, other


def _renamed(value: Abs, other: Abs, pairs: _Pairs) -> Abs:
    """`value` with the sizes of `other`, where these are equal to its own."""
    new = _like(value.value, other.value, pairs)
    return value if new is value.value else dataclasses.replace(value, value=new)


def _like(value: Value, other: Value, pairs: _Pairs) -> Value:
    if type(value) is Array and type(other) is Array:
        ours, theirs = value.shape.dims, other.shape.dims
        shared = min(len(ours), len(theirs))
        dims = [x if (x, y) not in pairs else y for x, y in zip(ours[len(ours) - shared :], theirs[len(theirs) - shared :])]
        dims = [*ours[: len(ours) - shared], *dims]
        return value if tuple(dims) == ours else dataclasses.replace(value, shape=Shape(tuple(dims), value.shape.lead))
    if isinstance(value, Int) and isinstance(other, Int):
        return other if (value.dim, other.dim) in pairs else value
    if type(value) is Tup and type(other) is Tup and len(value.items) == len(other.items):
        items = tuple(_like(x, y, pairs) for x, y in zip(value.items, other.items))
        same = all(x is y for x, y in zip(items, value.items))
        return value if same else dataclasses.replace(value, items=items)
    return value


__all__ = ["one_name"]
