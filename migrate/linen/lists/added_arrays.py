"""`[x] + [nn.Embed(n, 4)(ids[..., i]) for i, n in enumerate(self.sizes)]`: lists of arrays one behind the other.

How many there are, and their widths together, follow from those of the two.
"""

from __future__ import annotations

from typing import Any

from ..values.dims import Dim
from ..values.sites import Repeated
from ..values.values import Array, Lead, Pieces, Shape, Tup, Value


def added(run: Any, a: Value, b: Value) -> Repeated | None:
    """The list `a + b` of arrays, of which one was made by a comprehension; None for anything else."""
    if not any(isinstance(value, Repeated) for value in (a, b)):
        return None
    one, other = _pieces(run, a), _pieces(run, b)
    if one is None or other is None:
        return None
    count = one.count + other.count if one.count is not None and other.count is not None else None
    widths = one.widths + other.widths if one.widths is not None and other.widths is not None else None
    return Repeated(Array(_common(one.element.shape, other.element.shape)), None, "list", count=count, widths=widths)


def _pieces(run: Any, value: Value) -> Pieces | None:
    if isinstance(value, Tup) and value.items and not value.variable:
        arrays = [item for item in value.items if isinstance(item, Array)]
        if len(arrays) < len(value.items):
            return None
        shape, widths = arrays[0].shape, Dim.of(0)
        for item in arrays[1:]:
            shape = _common(shape, item.shape)
        known = [item.shape.dim(-1) for item in arrays]
        for width in known:
            widths = widths + (width if width is not None else 0)
        return Pieces(Array(shape), Dim.of(len(arrays)), None if None in known else widths)
    plain = run.plain(value)
    return plain if isinstance(plain, Pieces) else None


def _common(a: Shape, b: Shape) -> Shape:
    """What two shapes share."""
    if a.rank is not None and a.rank == b.rank:
        return Shape(tuple(x if x == y else None for x, y in zip(a.dims, b.dims)))
    if a == b:
        return a
    width = a.dim(-1)
    return Shape((width if width == b.dim(-1) else None,), Lead.unknown(*a.needs(), *b.needs()))
