"""What stands behind a condition in a condition that returns early.

    if self.kind == "a":            # the constructor makes the last layer
        x = nn.Dense(3)(x)          # where `kind == "a" or kind == "b"`
    elif self.kind == "b":
        x = 2 * x
    else:
        return x
    return nn.Dense(4)(x)

A `return` on one side of a condition of its own needs nothing of this: what follows belongs to the other side.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..values.environment import Env, Exit, Returned
from ..values.sites import Block, Branch, Local, Localized, LocalizedPart, Unmigratable, steps_of

if TYPE_CHECKING:
    from .execute import Execution

LEFT_EARLY = "left early"  # under which a site has the ways of a call that returns before it
_PLAIN = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Compare, ast.Constant)


def exits(branch: Branch, node: ast.If, ways: Sequence[tuple[bool, bool, Returned]]) -> list[Exit]:
    """How a condition is left by `return`: on each side (holds, whether all of it ends there, what it returns)."""
    found: list[Exit] = []
    for holds, done, given in ways:
        own = (branch, node.test, holds)
        if done and given.values:
            found.append((own,))
        elif not done:
            found += [(own, *inner) for inner in given.exits]
    return found


def of_a_loop(ways: Sequence[Exit]) -> list[Exit]:
    """Ways out of a loop, or out of a `try`: what they ask for is not to be asked behind it."""
    return [
        tuple((dataclasses.replace(branch, test=None, text=""), test, holds) for branch, test, holds in way) for way in ways
    ]


def follow(run: Execution, rest: Sequence[ast.stmt], ways: Sequence[Exit], env: Env, returned: Returned) -> bool:
    """Follow the statements that run where none of `ways` was taken; True where every path has returned."""
    if not ways:
        return run.run_block(rest, env, returned)
    of_the_call = [way for way in ways if any(branch.test is None and not branch.text for branch, _, _ in way)]
    decided = [way for way in ways if all(branch.test is not None or branch.text for branch, _, _ in way)]
    sayable = all(branch.test is not None for way in decided for branch, _, _ in way) and not _changed(decided)
    outer, mark = run.block, len(run.sites)
    guard = ast.copy_location(ast.If(decided[0][0][1] if decided else ast.Constant(True), list(rest), []), rest[0])
    if decided and sayable:
        reached = Branch(_reached(decided), Block(), Block(), env.source)
        outer.steps.append(reached)
        run.block = reached.then
    done = run.run_block(rest, env, returned)
    run.block = outer
    made = [site for site in run.sites[mark:] if site.kind != "rng"]
    if made and not sayable:
        reason = "what a method asks for before it returns early, and makes a module else, is not to be asked again"
        raise Unmigratable("NNX122", reason, decided[0][0][1])
    for site in made:
        if decided:
            site.conditions = ((guard, False), *site.conditions)
            site.renders["sides"] = {**site.renders.get("sides", {}), guard: True}
        if of_the_call:
            site.renders[LEFT_EARLY] = [*site.renders.get(LEFT_EARLY, []), *of_the_call]
    return done


def _changed(ways: Sequence[Exit]) -> bool:
    """Does a name that the conditions ask for mean something else behind them?"""
    needed = {name for way in ways for branch, _, _ in way if branch.test is not None for name in branch.test.needs}
    inside = [step for way in ways for step in steps_of(Block([way[0][0]]))]
    assigned = {n for s in inside for n in (s.names if isinstance(s, Local) else {getattr(s, "name", "")})}
    return not needed.isdisjoint(assigned)


def _reached(ways: Sequence[Exit]) -> Localized:
    """`kind == "a" or kind == "b"`: that none of the ways was taken."""
    parts: list[str | LocalizedPart] = []
    for way in ways:
        if parts:
            parts.append(" and ")
        several = len(way) > 1 and len(ways) > 1
        parts.append("(" if several else "")
        for count, (branch, test, holds) in enumerate(way):
            assert branch.test is not None
            plain = isinstance(test, _PLAIN) and not (holds and isinstance(test, ast.Compare))
            said = LocalizedPart(branch.test)
            parts += [" or " if count else "", "not " if holds else "", *([said] if plain else ["(", said, ")"])]
        parts.append(")" if several else "")
    tests = [branch.test for way in ways for branch, _, _ in way if branch.test is not None]
    return dataclasses.replace(
        tests[0],
        replaced=((tests[0].span, tuple(part for part in parts if part)),),
        needs=frozenset().union(*(test.needs for test in tests)),
        flags=frozenset().union(*(test.flags for test in tests)),
    )


__all__ = ["LEFT_EARLY", "exits", "follow", "of_a_loop"]
