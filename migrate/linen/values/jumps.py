"""Loops that are not run through to their end: `continue` as a branch, and where `break` or `return` leaves one."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from ...trees import children
from .merging import dependencies_of, merge
from .sites import Abs, Unmigratable
from .values import Array, Shape, Unknown, Value

_SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef


def _inside(statements: Sequence[ast.AST], wanted: type[ast.stmt], stop: Any) -> Iterator[ast.stmt]:
    """The jumps in a block, without those of functions or loops of their own."""
    for node in statements:
        if isinstance(node, wanted):
            yield node
        elif not isinstance(node, stop | ast.expr):
            yield from _inside(children(node), wanted, stop)


def left_early(body: Sequence[ast.stmt]) -> ast.stmt | None:
    """The statement that leaves a loop before its end, if there is one."""
    found = next(_inside(body, ast.Break, _SCOPES | ast.For | ast.While), None)
    return found or next(_inside(body, ast.Return, _SCOPES), None)


def without_continue(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """A loop body in which `if test: continue` has what follows as its other branch."""
    out: list[ast.stmt] = []
    for position, statement in enumerate(body):
        if isinstance(statement, ast.Continue):
            return out
        if next(_inside([statement], ast.Continue, _SCOPES | ast.For | ast.While), None) is None:
            out.append(statement)
            continue
        if not isinstance(statement, ast.If):
            raise Unmigratable("NNX122", "a `continue` stands where it cannot be followed", statement)
        rest = list(body[position + 1 :])
        branch = ast.If(
            statement.test,
            without_continue([*statement.body, *rest]) or [ast.copy_location(ast.Pass(), statement)],
            without_continue([*statement.orelse, *rest]),
        )
        return [*out, ast.copy_location(branch, statement)]
    return out


def _forget_sizes(value: Abs, trackers: set[str]) -> Abs:
    """A value without the sizes that a loop was still changing when it was left."""
    found = value.value
    if not dependencies_of(found) & trackers:
        return value
    if not isinstance(found, Array):
        return Abs(Unknown("a loop is left early"), False, value.flags)
    shape = found.shape
    dims = tuple(d if d is None or not d.dependencies() & trackers else None for d in shape.dims)
    return Abs(Array(Shape(dims, shape.lead)), False, value.flags)


def returned_within(value: Abs, trackers: set[str]) -> Abs:
    """What a function returns from within a loop: a width that the loop was still changing is not that of another return."""
    now = _forget_sizes(value, trackers)
    widthless = isinstance(now.value, Array) and now.value.shape.dim(-1) is None
    return Abs(Unknown("a loop is left early"), False, value.flags) if now is not value and widthless else now


def after_break(env: Any, left: Sequence[Any], trackers: set[str]) -> None:
    """What holds behind a loop that may have been left at other places than its end."""
    for name, bound in list(env.names.items()):
        now = _forget_sizes(bound, trackers)
        for other in left:
            there = other.names.get(name)
            if there is not None and there.value != now.value:
                there = _forget_sizes(there, trackers)
                now = Abs(_of_both(now.value, there.value), False, now.flags | there.flags)
        if now is not bound:
            env.names[name] = now
            env.local.discard(name)


def _of_both(a: Value, b: Value) -> Value:
    """What two values have in common, none of whose sizes is taken for that of the other where it is not known."""
    merged = merge(a, b)
    if not (isinstance(merged, Array) and isinstance(a, Array) and isinstance(b, Array)):
        return merged
    count = len(merged.shape.dims)
    ends = [shape.expand(count).dims[-count:] if count else () for shape in (a.shape, b.shape)]
    dims = tuple(d if x == y else None for d, x, y in zip(merged.shape.dims, *ends))
    return Array(Shape(dims, merged.shape.lead))
