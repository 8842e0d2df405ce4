"""Widths that are 1 on one branch: `pos = table if self.learned else jnp.zeros((1, 1))`, and `x + pos` is as wide as x."""

from __future__ import annotations

from typing import Any

from ..values.dims import Dim


def ways(run: Any, dim: Dim) -> frozenset[Dim]:
    """The sizes of which branches choose this one; itself alone, where none does."""
    atom = dim.single_atom()
    if atom is None:
        return frozenset({dim})
    if atom.kind == "local":
        return run.one_or.get(atom.args[0], frozenset({dim}))  # type: ignore[no-any-return]
    if atom.kind == "cond":
        sides = [ways(run, side) for side in atom.args if isinstance(side, Dim)]
        found: frozenset[Dim] = frozenset().union(*sides)
        return found if Dim.of(1) in found else frozenset({dim})
    return frozenset({dim})


def broadcast(run: Any, left: Dim, right: Dim) -> Dim | None:
    """How wide two arrays are together, of which one may be 1; None where neither is known to be on some branch."""
    one = Dim.of(1)
    for known, other in ((left, right), (right, left)):
        found = ways(run, other)
        if one in found and other != one:
            return known if found <= {one, known} else left.maximum(right)
    return None


__all__ = ["broadcast", "ways"]
