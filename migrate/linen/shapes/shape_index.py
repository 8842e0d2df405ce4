"""Indexing: arrays, shapes and tuples."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from ..values.dims import Dim
from ..values.values import (
    Array,
    At,
    Const,
    Global,
    Int,
    Lead,
    NeedsRank,
    Shape,
    ShapeOf,
    Slice,
    SomeNumber,
    Star,
    Tup,
    Unknown,
    Value,
    shape_value,
)
from .shape_args import NONE, array_shape, int_of, join, step_of
from .shape_ops import Stop, broadcast, imply, insert, needs_rank, stop

ELLIPSIS = Const(...)


def index(value: Value, item: Value) -> Value:
    """`value[item]`. Raises Stop."""
    for v in (value, item):
        if isinstance(v, Unknown):
            raise Stop(v)
    if isinstance(value, Tup):
        return _tuple_item(value, item)
    if isinstance(value, ShapeOf):
        return _shape_item(value, item)
    if isinstance(value, Array):
        items = item.items if isinstance(item, Tup) and item.kind == "tuple" else (item,)
        try:
            return Array(array_index(value.shape, items), value.boolean)
        except Stop as unknown:
            if isinstance(unknown.value, NeedsRank) or value.shape.rank is not None or value.shape.needs():
                raise
            return Array(Shape.unknown(), value.boolean)  # of how many dimensions is not known
    if isinstance(value, At) and value.index is None:
        return At(value.array, item)
    if isinstance(value, Global) and value.name in _GRIDS:
        return _grid(value.name, item.items if isinstance(item, Tup) and item.kind == "tuple" else (item,))
    if isinstance(value, Global) and value.name in _INDICES:  # `np.s_[..., 1:4]`
        whole = value.name.endswith("index_exp") and not (isinstance(item, Tup) and item.kind == "tuple")
        return Tup((item,)) if whole else item
    if isinstance(value, Const) and isinstance(value.value, str | bytes) and isinstance(item, Int):
        position = item.dim.value
        if position is not None and -len(value.value) <= position < len(value.value):
            return Const(value.value[position : position + 1 or None])
    raise stop(f"an item of {type(value).__name__}")


_INDICES = frozenset({"numpy.s_", "jax.numpy.s_", "numpy.index_exp", "jax.numpy.index_exp"})
_GRIDS = frozenset({"jax.numpy.mgrid", "numpy.mgrid", "jax.numpy.ogrid", "numpy.ogrid"})


def _grid(name: str, items: Sequence[Value]) -> Value:
    """`jnp.mgrid[:h, :w]`: an array for every axis."""
    sizes: list[Dim] = []
    for item in items:
        if not isinstance(item, Slice) or item.stop is None or (item.step is not None and item.step != NONE):
            raise stop(f"`{name}` of something else than a start and a stop")
        start = Dim.of(0) if item.start is None or item.start == NONE else int_of(item.start, "a start")
        sizes.append(int_of(item.stop, "a stop") - start)
    if name.endswith("mgrid"):
        return Array(Shape.of(len(sizes), *sizes))
    count = len(sizes)
    open_ = [Array(Shape.of(*[size if i == axis else 1 for i in range(count)])) for axis, size in enumerate(sizes)]
    return Tup(tuple(open_))


def _bound(value: Value | None) -> int | None:
    if value is None or value == NONE:
        return None
    number = int_of(value, "a bound of a slice").value
    if number is None:
        raise stop("a slice whose bounds are not constants")
    return number


def _tuple_item(value: Tup, item: Value) -> Value:
    if isinstance(item, Slice):
        return Tup(value.items[_bound(item.start) : _bound(item.stop) : _bound(item.step)], value.kind)
    position = int_of(item, "an index").value
    if position is None:
        raise stop("an item of a tuple, at a position that is not a constant")
    if not -len(value.items) <= position < len(value.items):
        raise stop(f"item {position} of {len(value.items)}")
    return value.items[position]


# items of a shape of unknown length ----------------------------------------------------------------------------


def _shape_item(value: ShapeOf, item: Value) -> Value:
    shape = value.shape
    if isinstance(item, Slice):
        return _shape_slice(value, item)
    where = int_of(item, "an index")
    position = where.value
    if position is None:
        ndim = shape.ndim()
        position = None if ndim is None else (where - ndim).value  # x.shape[x.ndim - 1]
        if position is None or position >= 0:
            raise needs_rank(f"shape[{where}]", shape)
    dim = shape.dim(position)
    if dim is None:
        raise needs_rank(f"shape[{position}]", shape)
    return Int(dim)


def _shape_slice(value: ShapeOf, item: Slice) -> Value:
    """Dimensions that a slice of an argument's own shape names are taken to exist: `x.shape[:2]` has two items.

    Where they do not, the size that comes of it raises when it is computed.
    """
    start, stop_, step = _bound(item.start), _bound(item.stop), _bound(item.step)
    shape = value.shape
    if step not in (None, 1):
        raise needs_rank("a slice of a shape with a step", shape)
    if stop_ is not None and stop_ < 0:
        if shape.lead is not None and shape.lead.skipped and len(shape.dims) < -stop_:
            raise needs_rank("a slice of a shape", shape)
        shape = shape.expand(-stop_)
        shape = Shape(shape.dims[:stop_], shape.lead)
        stop_ = None
    if start is not None and start < 0:
        if shape.lead is not None and shape.lead.skipped and len(shape.dims) < -start:
            raise needs_rank("a slice of a shape", shape)
        shape = shape.expand(-start) if item.stop is None or item.stop == NONE else shape
        if stop_ is not None or len(shape.dims) < -start:
            raise needs_rank("a slice of a shape", shape)
        return shape_value(Shape(shape.dims[len(shape.dims) + start :]), value.kind)
    folded = shape.fold()
    lead = folded.lead
    assert lead is not None
    first = start or 0
    if stop_ is None and not first:
        return ShapeOf(shape, value.kind)
    if not lead.known or folded.dims or (stop_ is not None and lead.dropped):
        raise needs_rank("a slice of a shape", shape)  # `x.shape[1]` may be among those that are gone
    if stop_ is not None:
        dims = tuple(folded.dim(i) for i in range(first, stop_))
        return shape_value(Shape(dims), value.kind)
    beyond = max(first - len(lead.head), 0)
    rest = Lead(lead.argument, lead.dropped, lead.skipped + beyond, lead.head[first:])
    return ShapeOf(Shape((), rest), value.kind)


# arrays --------------------------------------------------------------------------------------------------------


def _width(item: Value) -> int:
    """How many dimensions of the array an index item takes."""
    if item in (NONE, ELLIPSIS) or isinstance(item, Const):
        return 0 if item in (NONE, ELLIPSIS) else 1
    if isinstance(item, Array) and item.boolean:
        raise stop("an index by a mask: the shape depends on values")
    return 1


def array_index(shape: Shape, items: Sequence[Value]) -> Shape:
    """`x[items]` by NumPy's rules."""
    items = [Int(Dim.of(0)) if isinstance(item, SomeNumber) else item for item in items]  # whichever it is
    for item in items:
        if isinstance(item, Unknown):
            # A number picks a dimension away, an array of numbers puts its own there: which, is not known.
            raise Stop(item)
        if isinstance(item, Const) and isinstance(item.value, bool):
            raise stop("an index by a truth value")
    count = list(items).count(ELLIPSIS)
    if count > 1:
        raise stop("two ellipses in an index")
    at = list(items).index(ELLIPSIS) if count else len(items)
    front, back = list(items[:at]), list(items[at + 1 :])
    if shape.rank is None and _names_all(items):
        width = sum(_width(item) for item in items)
        shape = Shape(shape.expand(width).dims) if len(shape.dims) <= width else shape
    while front and shape.rank is None and not count and _is_full(front[-1]):
        front.pop()  # `x[a, :]` is `x[a]`
    back_width = sum(_width(item) for item in back)
    front_width = sum(_width(item) for item in front)
    if shape.rank is None:
        return _open_index(shape, front, front_width, back, back_width)
    if shape.dims and len(items) == 1 and isinstance(items[0], Array) and not items[0].boolean:
        picked = items[0].shape  # `table[ids]`: whatever the rank of the ids
        return Shape((*picked.dims, *shape.dims[1:]), picked.lead)
    if front_width + back_width > len(shape.dims):
        raise stop(f"an index of {front_width + back_width} dimensions of an array with {len(shape.dims)}")
    middle = len(shape.dims) - front_width - back_width
    return Shape(_basic([*front, *[Slice()] * middle, *back], list(shape.dims)))


def _names_all(items: Sequence[Value]) -> bool:
    """`scale[:, None, None, :]`: who writes the last slice out means all dimensions that there are."""
    plain = all(isinstance(item, Slice) or item == NONE for item in items)
    return plain and list(items).count(NONE) > 1 and _is_full(items[-1])


def _is_full(item: Value) -> bool:
    return isinstance(item, Slice) and all(part is None or part == NONE for part in (item.start, item.stop, item.step))


def _open_index(shape: Shape, front: list[Value], front_width: int, back: list[Value], back_width: int) -> Shape:
    """An index into an array of unknown rank: what stands before the ellipsis counts from the front."""
    if any(isinstance(item, Array | Tup) for item in back) and front:
        raise needs_rank("an index", shape)
    lead_shape = shape
    tail: tuple[Dim | None, ...] = ()
    if back:
        wide = shape.expand(back_width)
        cut = len(wide.dims) - back_width
        tail = _basic(back, list(wide.dims[cut:]))
        lead_shape = Shape(wide.dims[:cut], wide.lead)
    if not front:
        return Shape((*lead_shape.dims, *tail), lead_shape.lead)
    if not front_width:  # only new axes
        for _ in front:
            lead_shape = insert(lead_shape, Dim.of(0), 1)
        return Shape((*lead_shape.dims, *tail), lead_shape.lead)
    folded = Shape((*lead_shape.dims, *tail), lead_shape.lead).fold() if not back else lead_shape.fold()
    lead = folded.lead
    picked = len(front) == 1 and isinstance(front[0], Array)  # rows, however many
    if lead is not None and not lead.known and not back and (picked or all(isinstance(i, Slice | Int) for i in front)):
        if len(folded.dims) > front_width:  # whatever stands before them, so many of the last dimensions are not touched
            return Shape(folded.dims[front_width:], lead)
    if lead is None or not lead.known or folded.dims or len(lead.head) > front_width:
        raise needs_rank("an index", shape)
    own = [folded.dim(i) for i in range(front_width)]
    made = _basic(front, own)
    rest = Lead(lead.argument, lead.dropped, lead.skipped + front_width - len(lead.head), made)
    return Shape(tail if back else (), rest).fold()


def _basic(items: Sequence[Value], dims: list[Dim | None]) -> tuple[Dim | None, ...]:
    """The dimensions that are left when every item is applied to its own."""
    out: list[Dim | tuple[()] | None] = []
    advanced: list[tuple[int, Shape]] = []  # (position among the items, shape of the index array)
    some_array = any(isinstance(item, Array | Tup) for item in items)
    at = 0
    for position, item in enumerate(items):
        if item == NONE:
            out.append(Dim.of(1))
            continue
        dim = dims[at]
        at += 1
        if isinstance(item, Slice):
            out.append(slice_dim(dim, item))
        elif isinstance(item, Int) and not some_array:
            pass
        elif isinstance(item, Int | Array | Tup):
            if not advanced:
                out.append(())  # where the index arrays' own dimensions go
            advanced.append((position, Shape(()) if isinstance(item, Int) else array_shape(item)))
        else:
            raise stop(f"an index by {type(item).__name__}")
    if not advanced:
        return tuple(d for d in out if not isinstance(d, tuple))
    picked = broadcast(*[shape for _, shape in advanced])
    if picked.rank is None:
        raise needs_rank("an index by an array", picked)
    positions = [position for position, _ in advanced]
    rest = [d for d in out if not isinstance(d, tuple)]
    if positions != list(range(positions[0], positions[0] + len(positions))):
        return (*picked.dims, *rest)  # apart from each other: the new dimensions come first
    place = next(i for i, d in enumerate(out) if isinstance(d, tuple))
    return (*rest[:place], *picked.dims, *rest[place:])


def slice_dim(size: Dim | None, item: Slice) -> Dim | None:
    """The length of `start:stop:step` of a dimension; None where it is not certain."""
    if _is_full(item):
        return size
    if any(isinstance(part, Unknown) for part in (item.start, item.stop, item.step)):
        return None
    if any(part is not None and not isinstance(part, Int) and part != NONE for part in (item.start, item.stop)):
        return None
    step = step_of(item)
    start = None if item.start is None or item.start == NONE else int_of(item.start, "start")
    end = None if item.stop is None or item.stop == NONE else int_of(item.stop, "stop")
    width = step.value
    if size is not None and size.value is not None and width:
        numbers = [None if d is None else d.value for d in (start, end)]
        if all(d is None or n is not None for d, n in zip((start, end), numbers)):
            return Dim.of(len(range(*slice(numbers[0], numbers[1], width).indices(size.value))))
    if width is not None and width <= 0:
        return size if width == -1 and start is None and end is None else None
    if start is not None and start.value == 0:
        start = None
    if start is not None and end is None and _is_from_front(-start) and size is not None:
        return (-start).minimum(size).ceil_div(step)  # the last `-start` ones, or all if there are fewer
    first = Dim.of(0) if start is None else _place(start, size)
    if first is not None and start is not None and _is_from_front(-start):
        first = first.maximum(0)  # fewer than `-start` there: from the beginning
    last = size if end is None else _place(end, size)
    if first is None or last is None:
        return None
    if end is not None and _is_from_front(end):
        if size is None:
            return None
        last = last.minimum(size)
    return (last - first).ceil_div(step)


def _is_from_front(bound: Dim) -> bool:
    low = bound.lower_bound()
    return low is not None and low >= 0


def _place(bound: Dim, size: Dim | None) -> Dim | None:
    """A bound of a slice, counted from the front."""
    if _is_from_front(bound):
        return bound
    if _is_from_front(-bound):
        return None if size is None else size + bound
    if size is not None and (bound - size).value == -1:
        return bound  # size - 1: not negative, as a dimension is at least 1
    return None


# unpacking -----------------------------------------------------------------------------------------------------


def unpack(value: Value, count: int) -> tuple[Value, ...]:
    """`a, b = value`. Raises Stop. The rank that it implies of an argument is noted."""
    if isinstance(value, Tup) and len(value.items) == count:
        return value.items
    if isinstance(value, ShapeOf):
        made = shape_value(imply(value.shape, count), value.kind)
        assert isinstance(made, Tup)
        return made.items
    if isinstance(value, Array):
        lead = value.shape.lead
        if lead is not None and lead.known and lead.head:
            rest = dataclasses.replace(lead, head=lead.head[1:])
            return (Array(Shape(value.shape.dims, rest), value.boolean),) * count
        if lead is not None and not lead.known and value.shape.dims:  # what is left has the last dimension, if any
            return (Array(Shape(value.shape.dims[-1:], lead), value.boolean),) * count
        if value.shape.rank is None:
            rows = array_index(value.shape, [Int(Dim.of(0))])
            return (Array(rows, value.boolean),) * count
        if value.shape.rank > 0:
            return (Array(Shape(value.shape.dims[1:]), value.boolean),) * count
    if isinstance(value, Const) and isinstance(value.value, str) and len(value.value) == count:
        return tuple(Const(c) for c in value.value)
    if isinstance(value, Unknown):
        raise Stop(value)
    raise stop(f"{count} values are needed")


def unpack_star(value: Value, before: int, after: int) -> tuple[tuple[Value, ...], Value, tuple[Value, ...]]:
    """`a, *rest, b = value` as (first ones, list of the rest, last ones). Raises Stop."""
    if isinstance(value, Tup) and len(value.items) >= before + after:
        cut = len(value.items) - after
        return value.items[:before], Tup(value.items[before:cut], "list"), value.items[cut:]
    if isinstance(value, ShapeOf):
        first = tuple(_shape_item(value, Int(Dim.of(i))) for i in range(before))
        last = tuple(_shape_item(value, Int(Dim.of(i))) for i in range(-after, 0))
        start = Int(Dim.of(before)) if before else None
        end = Int(Dim.of(-after)) if after else None
        rest = _shape_slice(value, Slice(start, end))
        return first, join([Star(rest)], "list"), last
    if isinstance(value, Unknown):
        raise Stop(value)
    raise stop("a starred assignment from what is not a tuple")
