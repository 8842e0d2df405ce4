"""Mapped axes: shapes inside and outside of scan and vmap."""

from __future__ import annotations

from typing import Any

from .dims import Dim
from .sites import Abs
from .values import Array, Const, Global, Int, Lead, Shape, Tup, Value


def scan_carry(before: Value, after: Value) -> Value:
    """The carry after a scan: arrays keep the shapes with which they came in."""
    if isinstance(before, Array) and isinstance(after, Array):
        return before
    if isinstance(before, Tup) and isinstance(after, Tup) and len(before.items) == len(after.items):
        return Tup(tuple(scan_carry(x, y) for x, y in zip(before.items, after.items)), after.kind)
    return after


def stacked(value: Value) -> Value:
    """What a scan or map gives for a value of its body: one leading axis more, of a length that is not known."""
    return insert_axis(value, 0, None)


def insert_axis(value: Value, axis: int, dim: Dim | None) -> Value:
    """A value with an axis more in each of its arrays."""
    if isinstance(value, Tup):
        return Tup(tuple(insert_axis(i, axis, dim) for i in value.items), value.kind)
    if isinstance(value, Array):
        if axis < 0:
            shape = value.shape.expand(-axis - 1)
            at = len(shape.dims) + axis + 1
            return Array(Shape((*shape.dims[:at], dim, *shape.dims[at:]), shape.lead))
        if value.shape.lead is None:
            return Array(Shape((*value.shape.dims[:axis], dim, *value.shape.dims[axis:])))
        return Array(Shape(value.shape.dims, Lead.unknown()))
    return value


def drop_axis(value: Value, axis: int) -> Value:
    """A value without one axis of each of its arrays: what one iteration sees."""
    if isinstance(value, Tup):
        return Tup(tuple(drop_axis(i, axis) for i in value.items), value.kind)
    if not isinstance(value, Array):
        return value
    shape = value.shape
    if axis < 0:
        shape = shape.expand(-axis)
        return Array(Shape((*shape.dims[:axis], *(shape.dims[axis + 1 :] if axis != -1 else ())), shape.lead))
    if shape.lead is None:
        return Array(Shape((*shape.dims[:axis], *shape.dims[axis + 1 :])))
    # A leading axis of unknown rank: the last dimension stays what it is as long as the rank exceeds the axis.
    return Array(Shape(shape.expand(1).dims[-1:], Lead.unknown(*shape.needs())))


def axes_of(run: Any, found: Abs | None, count: int) -> list[int | None] | None:
    """Per-argument axes; None for an argument that is broadcast."""
    if found is None:
        return [0] * count
    value = found.value

    def one(item: Value) -> int | str | None:
        if isinstance(item, Int) and item.dim.value is not None:
            return item.dim.value
        if isinstance(item, Const) and item.value is None:
            return None
        if isinstance(item, Global) and item.name == "flax.linen.broadcast":
            return None
        return "?"

    if isinstance(value, Tup):
        axes = [one(i) for i in value.items]
    else:
        axes = [one(value)] * count
    if any(a == "?" for a in axes):
        return None
    return [a for a in axes if not isinstance(a, str)]
