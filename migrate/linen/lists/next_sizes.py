"""The sizes that a pass of a loop leaves to the next: all change at once, while the constructor assigns one after another.

for i in range(3):                        for i in range(3):
    x = nn.Dense(width)(x)                    self.Dense.append(nnx.Linear(features, width, rngs=rngs))
    width = width * 2                         features = width
                                              width = 2 * width
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from ..values.dims import Atom, Dim
from ..values.sites import Abs, Track, Unmigratable
from ..values.values import Int, Value


def in_order(tracks: Sequence[Track], fresh: Callable[[str], str], loop: ast.expr) -> list[Track]:
    """The same assignments in an order in which each still reads what the others had before.

    Where two read each other (`x, y = y, x`), what one had is kept under a name that `fresh` makes. Raises Unmigratable
    where a text that cannot be changed reads it. `loop`: what it runs over.
    """
    left, found = list(tracks), []
    while left:
        ready = next((t for t in left if not any(t.name in o.dim.dependencies() for o in left if o is not t)), None)
        if ready is not None:
            left.remove(ready)
            found.append(ready)
            continue
        name = left[0].name
        kept = fresh(name)
        found.append(Track(kept, Dim.local(name)))
        left = [left[0], *[Track(t.name, _renamed(t.dim, name, kept)) for t in left[1:]]]
        if any(name in t.dim.dependencies() for t in left[1:]):
            raise Unmigratable(
                "NNX114", f"sizes that change along a loop follow from each other: `{ast.unparse(loop)}`", loop
            )
    return found


def is_number(before: Abs, after: Value) -> bool:
    """Is it a size of an array before a loop, and another number after a pass: `resolution = resolution // 2`?"""
    return type(before.value) is Int and type(after) is Int and not before.static


def _renamed(dim: Dim, name: str, kept: str) -> Dim:
    def change(atom: Atom) -> Dim | None:
        return Dim.local(kept) if atom.kind == "local" and atom.args == (name,) else None

    return dim.substitute(change)


__all__ = ["in_order", "is_number"]
