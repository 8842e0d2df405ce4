"""How many modules of a class Linen has counted, where a condition on fields decides it.

    if self.talking:
        w = Heads(4)(w)    # Heads_0
    w = nn.softmax(w)
    if self.talking:
        w = Heads(4)(w)  # Heads_1: the condition is the same, and so is its answer
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import itertools
from collections.abc import Sequence

from ...frozen import frozen
from ...linen.modules.compact_calls import group_of
from ...linen.values.presence import Step, asked
from ...linen.values.sites import Branch, Site


@frozen
class OfSides:
    """So many where the condition holds, and so many where it does not."""

    condition: str
    holding: int
    failing: int

    def more(self) -> OfSides:
        return dataclasses.replace(self, holding=self.holding + 1, failing=self.failing + 1)


Count = int | OfSides | None  # None: it depends on something else


def one_more(count: Count) -> Count:
    return count.more() if isinstance(count, OfSides) else None if count is None else count + 1


def within(count: Count, branch: Branch, then: bool) -> Count:
    """The count at the beginning of one side of a branch."""
    asks = _question(branch) if isinstance(count, OfSides) else None
    if not isinstance(count, OfSides) or asks is None or asks[0] != count.condition:
        return count
    return count.holding if asks[1] == then else count.failing


def behind(branch: Branch, then: Count, orelse: Count) -> Count:
    """The count behind a branch, of those at the ends of its sides."""
    if then == orelse:
        return then
    asks = _question(branch)
    if asks is None or not isinstance(then, int) or not isinstance(orelse, int):
        return None
    return OfSides(asks[0], *((then, orelse) if asks[1] else (orelse, then)))


def _question(branch: Branch) -> tuple[str, bool] | None:
    """What a branch asks of the fields, which always has the same answer, and the answer for which its first side is."""
    step = branch.step
    if branch.test is None or not isinstance(step, Step) or step.deps:
        return None
    said = _said(step.text)
    return (said[0], said[1] == step.holds) if said is not None else None


@functools.lru_cache(maxsize=1024)  # the same conditions are met in every way through a class
def _said(text: str) -> tuple[str, bool] | None:
    """A condition without `not`, and whether it holds where the condition does. None: a call may answer otherwise."""
    if asked(text) is not None:
        return None
    said = ast.parse(text, mode="eval").body
    if isinstance(said, ast.UnaryOp) and isinstance(said.op, ast.Not):
        return ast.unparse(said.operand), False
    return ast.unparse(said), True


def number_alike(members: Sequence[tuple[Site, int | None]]) -> bool:
    """Do two have one number that flags of the call decide about, on sides of two conditions that ask the same?"""
    return any(
        a == b and group_of(one) == group_of(other) and one.place_key()[:-1] != other.place_key()[:-1]
        for (one, a), (other, b) in itertools.combinations(members, 2)
        if not (exclude(one, other) or any(x is y for x, _ in one.conditions for y, _ in other.conditions))
    )


def exclude(one: Site, other: Site) -> bool:
    """Do fields decide about two modules of one number, so that no call comes to both?"""
    decided = not any(is_flag for _, is_flag in (*one.conditions, *other.conditions)) and group_of(one) == group_of(other)
    return decided and bool(one.conditions and other.conditions) and one.name is None and other.name is None


__all__ = ["Count", "OfSides", "behind", "exclude", "number_alike", "one_more", "within"]
