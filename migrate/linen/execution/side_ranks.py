"""Ranks of arguments that the statements on one side of a condition tell: they hold on that side alone.

if self.images:
  b, h, w, c = x.shape        here `x` has four dimensions
  x = x.reshape(b, h * w, c)
y = x.reshape(len(x), -1)     here it need not have
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..shapes import shape_ops
from ..values.environment import Env
from ..values.sites import Abs
from ..values.values import Array, value_with_rank

if TYPE_CHECKING:
    from .execute import Execution

Side = tuple[ast.AST, bool]
SideRanks = dict[Side, dict[str, int]]


@contextlib.contextmanager
def of_side(run: Execution, node: ast.If | ast.IfExp, holds: bool, env: Env) -> Iterator[None]:
    """Follow one side of a condition: with what it told of ranks the last time, and noting what it tells now."""
    before, outer = dict(env.names), run.assumed_ranks
    for argument, rank in run.side_ranks.get((node, holds), {}).items():
        for name in before:
            now = env.names[name]
            found = value_with_rank(now.value, argument, rank)
            if found != now.value:
                env.names[name] = dataclasses.replace(now, value=found)
    ranked = {name: (bound, env.names[name]) for name, bound in before.items() if env.names[name] is not bound}
    run.assumed_ranks = {}
    implied: dict[str, int] = {}
    try:
        with shape_ops.implied_ranks() as implied:
            yield
    finally:
        run.told_by_sides.setdefault((node, holds), {}).update({**run.assumed_ranks, **implied})
        run.assumed_ranks = outer
    _put_back(env, ranked)


def tell(run: Execution, node: ast.If | ast.IfExp, raises: bool | None = None) -> None:
    """Behind a condition: what both its sides tell, or all that one tells where the other raises, is told of all."""
    then, orelse = (run.told_by_sides.get((node, side), {}) for side in (True, False))
    if raises is not None:
        told = orelse if raises else then
    else:
        told = {argument: rank for argument, rank in then.items() if orelse.get(argument) == rank}
    for argument, rank in told.items():
        run.assumed_ranks.setdefault(argument, rank)


def _put_back(env: Env, ranked: dict[str, tuple[Abs, Abs]]) -> None:
    """Names that the side did not assign are as before, and so is what has the same shape: `x = x + bias`."""
    for name, (was, now) in ranked.items():
        bound = env.names.get(name)
        if bound is now:
            env.names[name] = was
        elif bound is not None and bound.value == now.value:
            env.names[name] = dataclasses.replace(bound, value=was.value)


def hints(known: SideRanks) -> dict[str, int]:
    """Argument → its rank, where all sides that tell one tell the same."""
    found: dict[str, set[int]] = {}
    for told in known.values():
        for argument, rank in told.items():
            found.setdefault(argument, set()).add(rank)
    return {argument: next(iter(ranks)) for argument, ranks in found.items() if len(ranks) == 1}


def learnt(run: Execution, known: SideRanks) -> bool:
    """Note what a run was told on sides of conditions, for the next; is there anything new?"""
    new = False
    for side, told in run.told_by_sides.items():
        table = known.setdefault(side, {})
        for argument, rank in told.items():
            if argument.partition("[")[0] in run.arguments and argument not in table:
                table[argument] = rank
                new = True
    return new


def handed_back(run: Execution, given: Array, rank: int, of_window: bool) -> None:
    """The rank that a module has for what it is given here, as a convolution tells it of its own input."""
    implied = given.shape.implied_rank(rank)
    if implied is not None:
        run.assumed_ranks.setdefault(*implied)
        if of_window:
            run.ranks_of_windows.add(implied[0])
            run.handed_ranks.add(implied[0])


__all__ = ["SideRanks", "handed_back", "hints", "learnt", "of_side", "tell"]
