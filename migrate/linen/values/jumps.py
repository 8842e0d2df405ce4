"""Loops that are not run through to their end: `continue` as a branch, and where `break` or `return` leaves one."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from ...trees import children
from .merging import dependencies_of, merge
from .sites import Abs, Unmigratable
from .values import Array, Shape, Unknown

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


def forget_sizes(run: Any, value: Abs, trackers: set[str]) -> Abs:
    """A value without the sizes that a loop was still changing when it was left."""
    found = value.value
    if not dependencies_of(found) & trackers:
        return value
    if not isinstance(found, Array):
        return Abs(Unknown("a loop is left early"), False, value.flags)
    shape = found.shape
    dims = tuple(d if d is None or not d.dependencies() & trackers else None for d in shape.dims)
    return Abs(Array(Shape(dims, shape.lead)), False, value.flags)


def after_break(run: Any, env: Any, left: Sequence[Any], trackers: set[str]) -> None:
    """What holds behind a loop that may have been left at other places than its end."""
    for name, bound in list(env.names.items()):
        now = forget_sizes(run, bound, trackers)
        for other in left:
            there = other.names.get(name)
            if there is not None and there.value != now.value:
                there = forget_sizes(run, there, trackers)
                now = Abs(merge(now.value, there.value), False, now.flags | there.flags)
        if now is not bound:
            env.names[name] = now
            env.local.discard(name)
