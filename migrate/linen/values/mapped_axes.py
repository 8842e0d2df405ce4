"""Mapped axes: shapes inside and outside of scan and vmap."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from ...frozen import frozen
from .bundles import Bundle
from .dims import Dim
from .sites import Static, Table, Unmigratable
from .values import Array, Const, Global, Int, Lead, NeedsRank, Real, Shape, Tup, Unknown, Value


def traced(value: Value) -> Value:
    """What JAX's control flow and maps make of a value: numbers are arrays there, and may be others at the next step."""
    if isinstance(value, Tup):
        return Tup(tuple(map(traced, value.items)), value.kind)
    if isinstance(value, Table):
        return Table({name: traced(item) for name, item in value.items.items()})
    if isinstance(value, Int | Real) or (isinstance(value, Const) and isinstance(value.value, int | float | complex)):
        return Array(Shape(()))
    return Unknown("a value of JAX's control flow") if isinstance(value, Static) else value


def scan_carry(before: Value, after: Value) -> Value:
    """The carry after a scan: arrays keep the shapes with which they came in."""
    if isinstance(before, Array) and isinstance(after, Array):
        return before
    if isinstance(before, Tup) and isinstance(after, Tup) and len(before.items) == len(after.items):
        return Tup(tuple(scan_carry(x, y) for x, y in zip(before.items, after.items)), after.kind)
    if isinstance(before, Bundle) and isinstance(after, Bundle):
        return before
    return traced(after)


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
        lead = value.shape.lead
        if axis == 0 and lead.known:
            return Array(Shape(value.shape.dims, dataclasses.replace(lead, head=(dim, *lead.head))))
        # As below, the rank is taken to exceed the axis: so many dimensions stand before the last one.
        last = value.shape.dims[-1:] if axis else value.shape.dims
        return Array(Shape((*(None,) * (axis + 1), *last), Lead.unknown(*value.shape.needs())))
    made = traced(value)
    return insert_axis(made, axis, dim) if isinstance(made, Array) else made


@frozen
class StepOfArgument(Array):
    """What one iteration sees of a whole argument, which may be a tuple: its items have lost the axis, too."""

    argument: str = ""
    axis: int = 0

    def item(self, of_argument: Array) -> Value:
        """What the iteration sees of an item of the argument."""
        return drop_axis(of_argument, self.axis)


def drop_axis(value: Value, axis: int) -> Value:
    """A value without one axis of each of its arrays: what one iteration sees."""
    dropped = _without(value, axis)
    whole = value.shape.of_argument() if type(value) is Array and value.shape.lead is not None else ""
    return StepOfArgument(dropped.shape, argument=whole, axis=axis) if whole and isinstance(dropped, Array) else dropped


def part_of_argument(value: Value, path: str) -> Value | None:
    """`obs.image` of an argument that holds arrays, or of what a map sees of one; None for anything else."""
    if isinstance(value, StepOfArgument) and value.argument:
        return value.item(Array(Shape.argument(f"{value.argument}{path}")))
    lead = value.shape.lead if isinstance(value, Array) and not value.shape.dims else None
    if lead is None or not lead.known or lead.dropped or lead.head:
        return None
    return Array(Shape((), Lead(f"{lead.argument}{path}", skipped=lead.skipped)))


def _without(value: Value, axis: int) -> Value:
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


def handed_on(value: Value, axis: Value) -> Value:
    """What `jax.vmap` hands to a module of an argument of unknown rank along its first axis: all the others."""
    lead = value.shape.lead if isinstance(value, Array) and not value.shape.dims else None
    if lead is None or not lead.known or lead.head or axis != Int(Dim.of(0)):
        return drop_axes(value, axis)
    return Array(Shape((), dataclasses.replace(lead, skipped=lead.skipped + 1)))


def in_axes_of(lifted: Any, count: int) -> list[Value]:
    """The axis (or tree of axes) of every argument of a scan (behind its carry) or vmap."""
    found = lifted.abs.get("in_axes")
    value = found.value if found is not None else Int(Dim.of(0))
    if isinstance(value, Tup):
        if len(value.items) < count:
            raise Unmigratable("NNX141", "in_axes of a lifted transform is shorter than the arguments", lifted.node)
        axes = list(value.items[:count])
    else:
        axes = [value] * count
    for axis in axes:
        if not is_axis(axis):
            raise Unmigratable("NNX141", "in_axes of a lifted transform is not a constant", lifted.node)
    return axes


def is_axis(value: Value) -> bool:
    """Is this an axis, or a tree of axes, known to the last?"""
    if isinstance(value, Tup):
        return all(is_axis(i) for i in value.items)
    if isinstance(value, Table):
        return all(is_axis(i) for i in value.items.values())
    return is_broadcast(value) or (isinstance(value, Int) and value.dim.value is not None)


def is_broadcast(value: Value) -> bool:
    """Is an argument with this axis the same for every step or member?"""
    if isinstance(value, Const):
        return value.value is None
    return isinstance(value, Global) and value.name == "flax.linen.broadcast"


def drop_axes(value: Value, axes: Value) -> Value:
    """What one step or member sees of an argument with an axis, or a tree of them."""
    if is_broadcast(axes):
        return value
    if isinstance(axes, Int) and axes.dim.value is not None:
        if isinstance(value, Table):
            return Table({k: drop_axes(v, axes) for k, v in value.items.items()})
        return drop_axis(value, axes.dim.value)
    if isinstance(axes, Tup) and isinstance(value, Tup) and len(axes.items) == len(value.items):
        return Tup(tuple(drop_axes(v, a) for v, a in zip(value.items, axes.items)), value.kind)
    if isinstance(axes, Table) and isinstance(value, Table) and set(axes.items) == set(value.items):
        return Table({k: drop_axes(v, axes.items[k]) for k, v in value.items.items()})
    return Unknown("a part of what a lifted transform is given")


def insert_axes(value: Value, axes: Value, count: Dim | None) -> Value:
    """A result with the axis, or tree of axes, along which a transform stacks it."""
    if is_broadcast(axes):
        return value
    if isinstance(axes, Int) and axes.dim.value is not None:
        if isinstance(value, Table):
            return Table({k: insert_axes(v, axes, count) for k, v in value.items.items()})
        return insert_axis(value, axes.dim.value, count)
    if isinstance(axes, Tup) and isinstance(value, Tup) and len(axes.items) == len(value.items):
        return Tup(tuple(insert_axes(v, a, count) for v, a in zip(value.items, axes.items)), value.kind)
    if isinstance(axes, Table) and isinstance(value, Table) and set(axes.items) == set(value.items):
        return Table({k: insert_axes(v, axes.items[k], count) for k, v in value.items.items()})
    return Unknown("a part of what a lifted transform gives")


def mapped_size(values: Sequence[Value], axes: Sequence[Value]) -> Dim | NeedsRank | None:
    """The size of the axis that is mapped over, from the first argument that shows it."""
    needs: list[str] = []
    for value, axis in zip(values, axes):
        if isinstance(value, Tup):
            inner = axis.items if isinstance(axis, Tup) else (axis,) * len(value.items)
            found = mapped_size(value.items, inner)
            if isinstance(found, Dim):
                return found
            if isinstance(found, NeedsRank):
                needs += found.arguments
        if not isinstance(value, Array) or not isinstance(axis, Int) or axis.dim.value is None:
            continue
        number, shape = axis.dim.value, value.shape
        if number < 0:
            shape = shape.expand(-number)
        if number < 0 or shape.lead is None:
            dim = shape.dims[number] if -len(shape.dims) <= number < len(shape.dims) else None
        else:  # it has a first axis, whatever its rank; another one may be its last, which members then lack
            dim = shape.dim(number) if number == 0 else None
        if dim is not None:
            return dim
        needs += shape.needs()
    return NeedsRank("the number of members", tuple(dict.fromkeys(needs))) if needs else None
