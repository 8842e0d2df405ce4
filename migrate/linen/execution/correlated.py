"""Conditions of the fields that are asked more than once: what one gave holds where it is asked again.

if self.split:                        in the second `if`, `q` is what it was on the same side of the first
  q = q.reshape(b, n, h, d)
...
if self.split:
  scores = jnp.einsum("bnhd,bmhd->bhnm", q, k)
"""

from __future__ import annotations

import dataclasses
from typing import Any

from ..values.bundles import Bundle
from ..values.environment import Env
from ..values.merging import dependencies_of
from ..values.presence import OptionalArray, Step
from ..values.sites import Abs
from ..values.values import Array, NeedsRank, Tup, Unknown, Value

_KINDS = (Array, Tup, Bundle, NeedsRank)


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


def narrowed(env: Env, step: Step) -> dict[str, tuple[Abs, Abs]]:
    """Give names what they are on this side; returns what they were, and are now."""
    changed: dict[str, tuple[Abs, Abs]] = {}
    for name, (merged, text, held) in env.by_step.items():
        if text == step.text and not step.deps and env.names.get(name) is merged:
            now = dataclasses.replace(held[step.holds], flags=merged.flags | held[step.holds].flags)
            env.names[name] = now
            changed[name] = (merged, now)
    return changed


def put_back(env: Env, changed: dict[str, tuple[Abs, Abs]]) -> None:
    """At the end of a side: names that it did not assign are what they were before."""
    for name, (before, now) in changed.items():
        if env.names.get(name) is now:
            env.names[name] = before


def sides_of(run: Any, then: Env, orelse: Env, sides: tuple[Step, Step] | None) -> tuple[dict, dict]:
    """Narrow both sides of a condition."""
    if sides is None:
        return {}, {}
    return narrowed(then, sides[0]), narrowed(orelse, sides[1])


__all__ = ["note", "put_back", "sides_of"]
