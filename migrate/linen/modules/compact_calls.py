"""Calls of compact methods by methods that are not: Linen forgets with each which names it gave.

    @nn.compact
    def net(self, x):
        return nn.Dense(4)(x)

    def __call__(self, x):
        return self.net(self.net(x))  # one Dense_0, used twice

What one such call makes is a group of its own: its automatic names are counted from 0, and what another call of the same
method makes at the same place is the same module.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..project.classes import Method
from ..values.sites import Site

_GROUP = "group"


@contextmanager
def counted_anew(run: Any, method: Method | None) -> Iterator[None]:
    """Note what a call of `method` makes as a group, where no compact method is at work already."""
    entry = run.model.method(run.entry)
    outermost = method is not None and method.compact and not run.in_setup and not run.in_compact
    if not outermost or entry is None or entry.compact:
        yield
        return
    before = len(run.sites)
    run.in_compact = True
    try:
        yield
    finally:
        run.in_compact = False
        run.compact_calls += 1
        for site in run.sites[before:]:
            site.renders[_GROUP] = run.compact_calls


def group_of(site: Site) -> int:
    """Of which call it is, 0 for the method itself."""
    return int(site.renders.get(_GROUP, 0))


def made_again(run: Any, entry: str) -> dict[Site, Site]:
    """What calls of compact methods make that an earlier one made in the same method, and that."""
    known: dict[tuple[object, ...], Site] = {}
    found: dict[Site, Site] = {}
    for site in run.sites_of(entry):
        if site.kind == "rng" or site.lazy or site.in_setup or not group_of(site):
            continue
        first = known.setdefault(site.place_key(), site)
        if group_of(first) != group_of(site):
            found[site] = first
    return found


__all__ = ["counted_anew", "group_of", "made_again"]
