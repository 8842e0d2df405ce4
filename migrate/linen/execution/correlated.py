"""Conditions of the fields that are asked more than once: what one gave holds where it is asked again.

if self.split:                        in the second `if`, `q` is what it was on the same side of the first
  q = q.reshape(b, n, h, d)
...
if self.split:
  scores = jnp.einsum("bnhd,bmhd->bhnm", q, k)

So is a factory that it chose: `down = partial(Down, conv=True) if self.conv else Down`.
"""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from ..modules import choices
from ..values.bundles import Bundle
from ..values.environment import Env
from ..values.merging import dependencies_of
from ..values.presence import OptionalArray, Step
from ..values.sites import Abs, Localized
from ..values.values import Array, NeedsRank, Tup, Unknown, Value

_KINDS = (Array, Tup, Bundle, NeedsRank)
_Sides = tuple[Step, Step] | None
_Changed = dict[str, tuple[Abs, Abs]]


def note(env: Env, name: str, a: Abs, b: Abs, sides: tuple[Step, Step] | None) -> None:
    """A name after a condition that the constructor can ask: what it is on either side, for the next time."""
    found = env.names[name]
    if sides is None or sides[0].deps or found.static or isinstance(found.value, OptionalArray):
        return
    if not all(isinstance(v.value, _KINDS) or type(v.value) is Unknown for v in (a, b)) or not _says_more(a, b, found.value):
        return
    if dependencies_of(a.value) | dependencies_of(b.value):
        return  # sizes that the constructor has under a name may be others by then
    held = {sides[0].holds: a, sides[1].holds: b}
    env.by_step = {**env.by_step, name: (found, sides[0].text, held)}


def _says_more(a: Abs, b: Abs, merged: Value) -> bool:
    return any(isinstance(v.value, _KINDS) and v.value != merged for v in (a, b))


def narrowed(env: Env, step: Step) -> _Changed:
    """Give names what they are on this side; returns what they were, and are now."""
    changed: _Changed = {}
    for name, (merged, text, held) in env.by_step.items():
        if text == step.text and not step.deps and env.names.get(name) is merged:
            now = dataclasses.replace(held[step.holds], flags=merged.flags | held[step.holds].flags)
            env.names[name] = now
            changed[name] = (merged, now)
    return changed


def put_back(env: Env, changed: _Changed) -> None:
    """At the end of a side: names that it did not assign are what they were before."""
    for name, (before, now) in changed.items():
        if env.names.get(name) is now:
            env.names[name] = before


def sides_of(
    run: Any, test: ast.expr, asked: tuple[Localized | None, str], env: Env, pair: tuple[Env, Env], sides: _Sides
) -> tuple[_Changed, ...]:
    """Narrow both sides of a condition; `asked`: how the constructor asks it, or the class."""
    found: tuple[_Changed, ...] = tuple(narrowed(side, step) for side, step in zip(pair, sides)) if sides else ({}, {})
    chosen = {name: held for name, held in env.names.items() if isinstance(held.value, choices.FactoryChoice)}
    said = choices.said_where_made(run, test, *asked, env) if chosen else None
    if said is None or said[3] is not None:
        return found
    for side, holds, changed in zip(pair, (True, False), found):
        for name, held in chosen.items():
            left = choices.left_where(held.value, ast.unparse(said[0]), holds, run, env)
            if left is not held.value and side.names.get(name) is held:
                side.names[name] = now = dataclasses.replace(held, value=left)
                changed[name] = (held, now)
    return found


__all__ = ["note", "put_back", "sides_of"]
