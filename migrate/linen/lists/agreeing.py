"""Lists of modules that a loop calls in an order of its own: `x = self.groups[i // 2](x)`.

Each item has the width of what it is first given. Which pass that is, only the call knows; but where the width before the
loop and the one that every pass gives are the same number, all items have it. The constructor checks that they are.
"""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from ..values.dims import Atom, Dim
from ..values.merging import dependencies_of, map_dims
from ..values.sites import CallRecord, Site

_SELF = re.compile(r"\bself\.(\w+)")


@dataclasses.dataclass(frozen=True)
class Agreement:
    """Two sizes that must be one: of what the loop begins with, and of what a pass gives to the next."""

    first: Dim
    following: Dim
    container: str


def agree(run: Any, site: Site, tracker: str, first: Dim | None, following: Dim | None) -> bool:
    """Give a module of such a list the size with which the loop begins; False where nothing can be checked."""
    assert site.call is not None
    record = site.call
    if tracker not in frozenset().union(*[dependencies_of(v) for v in (*record.args, *record.keywords.values())]):
        return True
    if first is None or following is None or not (_at_once(run, first) and _at_once(run, following)):
        return False

    def at_first(atom: Atom) -> Dim | None:
        return first if atom.kind == "local" and atom.args == (tracker,) else None

    def change(dim: Dim) -> Dim:
        return dim.substitute(at_first)

    keywords = {name: map_dims(value, change) for name, value in record.keywords.items()}
    site.call = CallRecord(tuple(map_dims(value, change) for value in record.args), keywords)
    run.agreements[tracker] = Agreement(first, following, site.container)
    return True


def _at_once(run: Any, dim: Dim) -> bool:
    """Can the constructor say a size before it makes anything?"""
    read = {name for atom in dim.atoms() if atom.kind == "opaque" for name in _SELF.findall(str(atom.args[0]))}
    return not dim.dependencies() and read <= run.fields.keys()


__all__ = ["Agreement", "agree"]
