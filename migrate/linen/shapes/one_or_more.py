"""Widths that are 1 on one branch: `pos = table if self.learned else jnp.zeros((1, 1))`, and `x + pos` is as wide as x."""

from __future__ import annotations

from typing import Any

from ..values.dims import Dim
from ..values.values import Array, Shape


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


def of_vector(run: Any, dim: Dim) -> bool:
    """Is it the width of `x[:, None]`, which is 1 if x is a vector?"""
    atom = dim.single_atom()
    return atom is not None and atom.kind == "byrank" and any(may_be_one(run, s) for s in atom.args if isinstance(s, Dim))


def beside_unknown(run: Any, column: Dim) -> Array:
    """`x[:, None] * table`, the table's width being unknown: no number of dimensions of `x` would tell that of both."""
    atom = column.single_atom()
    assert atom is not None
    run.columns.add(atom.args[0])
    return Array(Shape.unknown())


def may_be_one(run: Any, dim: Dim) -> bool:
    """Is the size 1 on a branch, or for an array of few dimensions?"""
    return of_vector(run, dim) or Dim.of(1) in ways(run, dim)


def broadcast(run: Any, left: Dim, right: Dim) -> Dim | None:
    """How wide two arrays are together, of which one may be 1; None where neither is known to be on some branch."""
    one = Dim.of(1)
    for known, other in ((left, right), (right, left)):
        found = ways(run, other)
        if one in found and other != one:
            return known if found <= {one, known} else left.maximum(right)
    return None


__all__ = ["beside_unknown", "broadcast", "may_be_one", "of_vector", "ways"]
