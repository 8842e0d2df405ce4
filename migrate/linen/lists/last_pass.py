"""Conditions that ask for a loop's last pass: `if i != self.stages - 1: x = downsample(x)`.

What such a loop hands on to its next pass comes from a pass that is not the last, and what it leaves behind from the last.
The two may differ in what a merge of both sides loses: the number of dimensions, or a width.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from ...trees import subtree
from ..values.arguments import stored_names
from ..values.environment import Env
from ..values.sites import Abs
from ..values.values import Array, Shape


@dataclasses.dataclass
class Pass:
    """A pass of a loop that is followed on trial; `asked`: a condition has asked which pass it is."""

    node: ast.For
    counter: str
    count: str  # how many passes there are, as the code says it
    is_last: bool
    asked: bool = False


def of_loop(node: ast.AST, counter: str, iterator: ast.expr, is_last: bool) -> Pass | None:
    """A pass of `for counter in range(count)` or `for counter, _ in enumerate(items)`; None for any other loop."""
    if not counter or not isinstance(node, ast.For) or not isinstance(iterator, ast.Call):
        return None
    if any(isinstance(n, ast.Break) for n in subtree(node)):
        return None  # it may be left in any pass
    called = iterator.func.id if isinstance(iterator.func, ast.Name) else ""
    over = iterator.args[0]
    count = ast.unparse(over) if called == "range" else f"len({ast.unparse(over)})"
    stored = {name for part in node.body for name in stored_names(part)}
    if counter in stored or stored & {n.id for n in subtree(over) if isinstance(n, ast.Name)}:
        return None
    return Pass(node, counter, count, is_last)


@contextlib.contextmanager
def following(run: Any, one: Pass | None) -> Iterator[None]:
    """While a body is followed for a pass of which it is known whether it is the last."""
    if one is None:
        yield
        return
    run.passes.append(one)
    try:
        yield
    finally:
        run.passes.pop()


def answer(run: Any, test: ast.expr, env: Env) -> bool | None:
    """What a condition is in the passes that are being followed, where it asks for nothing but the last one."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = answer(run, test.operand, env)
        return None if inner is None else not inner
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    for one in run.passes:
        if one.node not in env.source.ancestors(test):
            continue  # a function that the loop calls has names of its own
        left, right = ast.unparse(test.left), ast.unparse(test.comparators[0])
        last = (left, right) in ((one.counter, f"{one.count} - 1"), (f"{one.counter} + 1", one.count))
        if not last and one.count.isdigit():
            last = (left, right) == (one.counter, str(int(one.count) - 1))
        if last and isinstance(test.ops[0], ast.Eq | ast.GtE | ast.NotEq | ast.Lt):
            one.asked = True
            return one.is_last is isinstance(test.ops[0], ast.Eq | ast.GtE)
    return None


def leave(inner: Env, last: Env, phis: Mapping[tuple[str, int], str | None]) -> None:
    """Arrays after the loop are as its last pass leaves them.

    `phis`: the sizes that change along the loop, whose values after it are known otherwise.
    """
    trackers = {tracker for tracker in phis.values() if tracker is not None}
    for name, now in inner.names.items():
        left = last.names.get(name)
        if left is None or not isinstance(now.value, Array) or not isinstance(left.value, Array):
            continue
        shape = left.value.shape
        places = {place for known, place in phis if known == name}
        if any(-place > len(shape.dims) for place in places):
            continue
        dims = list(shape.dims)
        for place in set(range(-len(dims), 0)) - places:
            dim = dims[place]
            if dim is not None and dim.dependencies() & trackers:
                dims[place] = None  # said in sizes of the last pass's start
        known = dataclasses.replace(left.value, shape=Shape(tuple(dims), shape.lead))
        inner.names[name] = Abs(known, now.static, now.flags | left.flags)


__all__ = ["Pass", "answer", "following", "leave", "of_loop"]
