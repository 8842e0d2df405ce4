"""Shapes of jax.numpy (and numpy) functions that move things: reshape, transpose, join, split, pick."""

from __future__ import annotations

import dataclasses

from ..values.dims import Dim
from ..values.values import Array, Axes, Int, Lead, NeedsRank, Pieces, Shape, Tup, Unknown, Value, shape_value
from .shape_args import NONE, Call, array_shape, as_shape, int_of, rule
from .shape_ops import (
    Stop,
    broadcast,
    broadcast_to,
    concatenate,
    imply,
    insert,
    needs_rank,
    negative_axis,
    reduce,
    reshape,
    spelled,
    split_sizes,
    stack,
    stop,
    with_dim,
)

# rearranging ---------------------------------------------------------------------------------------------------


@rule("reshape", "a shape order")
@rule("reshape", "a shape dimensions", "jax.lax")
def _reshape(call: Call) -> Value:
    if "newshape" in call.extra:  # its name in older releases of jax
        return Array(reshape(call.shape("a"), as_shape(call.extra["newshape"])))
    return Array(reshape(call.shape("a"), call.target("shape")))


@rule("ravel", "a order")
def _ravel(call: Call) -> Value:
    return Array(reshape(call.shape("a"), Shape.of(-1)))


@rule("transpose", "a axes")
@rule("permute_dims", "a axes")
@rule("transpose", "a axes", "jax.lax")
def _transpose(call: Call) -> Value:
    axes = call.bound.get("axes")
    if isinstance(axes, Axes):
        return Array(_transposed_end(call.shape("a"), axes))
    return Array(transpose(call.shape("a"), call.axes("axes")))


def _transposed_end(shape: Shape, axes: Axes) -> Shape:
    """The last dimensions, whose axes are counted from the rank, in another order."""
    rank, count = shape.ndim(), len(axes.then)
    numbers = [int_of(axis, "transpose: `axes`") for axis in axes.then]
    if rank is None or rank != axes.stop + count:
        raise stop("transpose: axes of another number")
    places = [n.value if (n.value or 0) < 0 else (n - rank).value for n in numbers]
    if sorted(p for p in places if p is not None) != list(range(-count, 0)):
        raise stop("transpose: axes that are not all of the last ones")
    shape = spelled(shape, -count) if count else shape
    moved = [shape.dims[place] for place in places if place is not None]
    return Shape((*shape.dims[: len(shape.dims) - count], *moved), shape.lead)


def transpose(shape: Shape, axes: list[Dim] | None) -> Shape:
    """Dimensions in the order of `axes` (None: reversed)."""
    if axes is None:
        if shape.rank is None:
            raise needs_rank("transpose", shape)
        return Shape(shape.dims[::-1])
    shape = imply(shape, len(axes))
    return Shape(tuple(shape.dims[negative_axis(shape, axis)] for axis in axes))


@rule("matrix_transpose", "x")
def _matrix_transpose(call: Call) -> Value:
    return Array(swap(call.shape("x"), Dim.of(-1), Dim.of(-2)))


@rule("swapaxes", "a axis1 axis2")
def _swapaxes(call: Call) -> Value:
    return Array(swap(call.shape("a"), call.int("axis1"), call.int("axis2")))


def swap(shape: Shape, axis1: Dim, axis2: Dim) -> Shape:
    one, two = negative_axis(shape, axis1), negative_axis(shape, axis2)
    shape = spelled(shape, min(one, two))
    dims = list(shape.dims)
    dims[one], dims[two] = dims[two], dims[one]
    return Shape(tuple(dims), shape.lead)


@rule("moveaxis", "a source destination")
def _moveaxis(call: Call) -> Value:
    shape = call.shape("a")
    sources, destinations = call.axes("source") or [], call.axes("destination") or []
    if len(sources) != len(destinations):
        raise stop("moveaxis: as many sources as destinations are needed")
    taken = [negative_axis(shape, axis) for axis in sources]
    placed = [negative_axis(shape, axis) for axis in destinations]
    shape = spelled(shape, min([*taken, *placed]))
    count = len(shape.dims)
    rest = [shape.dims[i] for i in range(count) if i - count not in taken]
    moved = sorted(zip(placed, taken))
    for to, source in moved:
        rest.insert(count + to, shape.dims[source])
    return Array(Shape(tuple(rest), shape.lead))


@rule("rollaxis", "a axis start")
def _rollaxis(call: Call) -> Value:
    raise stop("rollaxis")


@rule("expand_dims", "a axis")
def _expand_dims(call: Call) -> Value:
    shape, axes = call.shape("a"), call.axes("axis") or []
    numbers = [axis.value for axis in axes]
    if len(axes) > 1:
        if shape.rank is None or None in numbers:
            raise needs_rank("expand_dims", shape)
        total = shape.rank + len(axes)
        for number in sorted(n % total for n in numbers if n is not None):
            shape = insert(shape, Dim.of(number), 1)
        return Array(shape)
    return Array(insert(shape, axes[0], 1))


@rule("expand_dims", "array dimensions", "jax.lax")
def _lax_expand_dims(call: Call) -> Value:
    return _expand_dims(Call(call.name, {"a": call.value("array"), "axis": call.value("dimensions")}, {}))


@rule("squeeze", "a axis")
@rule("squeeze", "a axis", "jax.lax")
def _squeeze(call: Call) -> Value:
    return Array(squeeze(call.shape("a"), call.axes("axis")))


def squeeze(shape: Shape, axes: list[Dim] | None) -> Shape:
    """Without the given dimensions; None: without those of size 1, if each is or certainly is not."""
    if axes is not None:
        return reduce(shape, axes, False)
    if shape.rank is None:
        raise needs_rank("squeeze", shape)
    if any(d is None or d.value is None for d in shape.dims):
        raise stop("squeeze without an axis: which dimensions are 1 is not known")
    return Shape(tuple(d for d in shape.dims if d is not None and d.value != 1))


@rule("broadcast_to", "array shape")
def _broadcast_to(call: Call) -> Value:
    return Array(broadcast_to(call.shape("array"), call.target("shape")))


@rule("broadcast_arrays", "*args")
def _broadcast_arrays(call: Call) -> Value:
    shapes = call.shapes("args")
    return Tup(tuple(Array(broadcast(*shapes)) for _ in shapes), "list")


@rule("broadcast_shapes", "*shapes")
def _broadcast_shapes(call: Call) -> Value:
    return shape_value(broadcast(*[as_shape(item) for item in call.items("shapes")]))


@rule("tile", "A reps")
def _tile(call: Call) -> Value:
    shape, reps = call.shape("A"), call.dims("reps")
    if shape.rank is None and len(shape.dims) < len(reps):
        raise needs_rank("tile", shape)  # it adds dimensions where there are fewer
    count = max(len(reps), len(shape.dims))
    own = (Dim.of(1),) * (count - len(shape.dims)) + shape.dims if shape.rank is not None else shape.dims
    times = [Dim.of(1)] * (count - len(reps)) + reps
    return Array(Shape(tuple(None if d is None or t is None else d * t for d, t in zip(own, times)), shape.lead))


@rule("repeat", "a repeats axis")
def _repeat(call: Call) -> Value:
    shape, repeats = call.shape("a"), call.value("repeats")
    times = repeats.dim if isinstance(repeats, Int) else None
    if not call.has("axis"):
        size = shape.size()
        return Array(Shape((None if size is None or times is None else size * times,)))
    number = negative_axis(shape, call.int("axis"))
    if shape.lead is not None and shape.lead.skipped and len(shape.dims) < -number:
        raise needs_rank("repeat", shape)  # a scalar is repeated along any axis
    shape = spelled(shape, number)
    size = shape.dims[number]
    return Array(with_dim(shape, number, None if size is None or times is None else size * times))


@rule("pad", "array pad_width mode")
def _pad(call: Call) -> Value:
    shape, width = call.shape("array"), call.value("pad_width")
    if isinstance(width, Int):
        if shape.rank is None:
            raise needs_rank("pad", shape)
        pairs: list[tuple[Dim | None, Dim | None]] = [(width.dim, width.dim)] * shape.rank
    elif type(width) is Unknown and shape.dim(-1) is not None:  # features are hardly ever padded
        lead = None if shape.rank is not None else Lead.unknown(*shape.needs())
        dims = shape.expand(1).dims
        return Array(Shape((*[None] * (len(dims) - 1), dims[-1]), lead))
    else:
        pairs = pad_pairs(width)
        if len(pairs) == 1 and shape.rank != 1:
            if shape.rank is None:
                raise needs_rank("pad", shape)
            pairs = pairs * shape.rank
        shape = imply(shape, len(pairs))
    return Array(
        Shape(
            tuple(
                None if d is None or low is None or high is None else d + low + high
                for d, (low, high) in zip(shape.dims, pairs)
            )
        )
    )


def pad_pairs(value: Value) -> list[tuple[Dim | None, Dim | None]]:
    """((low, high), ...) or (both, ...). Raises Stop."""
    if isinstance(value, Unknown):
        raise Stop(value)
    if not isinstance(value, Tup):
        raise stop("pad widths are not known")
    if len(value.items) == 2 and all(isinstance(item, Int) for item in value.items):
        low, high = [item.dim for item in value.items if isinstance(item, Int)]
        return [(low, high)]  # NumPy: (before, after) for every axis
    pairs: list[tuple[Dim | None, Dim | None]] = []
    for item in value.items:
        if not isinstance(item, Tup) or len(item.items) not in (1, 2):
            raise stop("pad widths are not pairs")
        ends = [end.dim if isinstance(end, Int) else None for end in item.items]
        pairs.append((ends[0], ends[-1]))
    return pairs


# joining -------------------------------------------------------------------------------------------------------


def _maybe_shapes(call: Call, parameter: str) -> list[Shape | None]:
    out: list[Shape | None] = []
    value = call.value(parameter)
    if isinstance(value, Array):  # an array is taken as the list of its rows
        first = value.shape.dim(0)
        count = None if first is None else first.value
        if count is None or value.shape.rank is None:
            raise stop(f"{call.name} of one array")
        return [Shape(value.shape.dims[1:])] * count
    for item in call.items(parameter):
        try:
            out.append(array_shape(item))
        except Stop as why:
            if len(call.items(parameter)) == 1:
                raise
            del why
            out.append(None)
    return out


@rule("concatenate concat", "arrays axis")
@rule("concatenate", "arrays axis", "jax.lax")
def _concatenate(call: Call) -> Value:
    if isinstance(call.value("arrays"), Pieces):
        return _joined_pieces(call.value("arrays"), call.int("axis", 0))
    if isinstance(call.value("arrays"), Array) and call.bound.get("axis") != NONE:
        return _joined_rows(array_shape(call.value("arrays")), call.int("axis", 0))
    shapes = _maybe_shapes(call, "arrays")
    if "axis" in call.bound and call.bound["axis"] == NONE:
        total = Dim.of(0)
        for shape in shapes:
            size = None if shape is None else shape.size()
            if size is None:
                return Array(Shape((None,)))
            total = total + size
        return Array(Shape((total,)))
    known = any(shape is not None for shape in shapes)
    joined = concatenate(shapes, call.int("axis", 0)) if known else None
    if joined is None or joined.dim(-1) is None:
        wanted = [v.arguments for v in call.items("arrays") if isinstance(v, NeedsRank)]
        wanted += [shape.needs() for shape in shapes if shape is not None and shape.dim(-1) is None]
        if any(wanted):
            raise Stop(NeedsRank(call.name, tuple(sorted({name for names in wanted for name in names}))))
    return Array(joined if joined is not None else concatenate(shapes, call.int("axis", 0)))


def _joined_rows(shape: Shape, axis: Dim) -> Value:
    """One array, taken as the list of its rows."""
    if shape.rank is None:
        raise needs_rank("concatenate", shape)
    rows = Pieces(Array(Shape(shape.dims[1:])), shape.dims[0])
    last = rows.element.shape.dim(-1) if shape.rank > 1 else None
    widths = last * rows.count if last is not None and rows.count is not None else None
    return _joined_pieces(dataclasses.replace(rows, widths=widths), axis)


def _joined_pieces(pieces: Value, axis: Dim) -> Value:
    """As many arrays of one shape as some size says, one after the other."""
    assert isinstance(pieces, Pieces)
    shape, number = pieces.element.shape, axis.value
    if number is not None and number >= 0 and shape.rank is None:
        raise needs_rank("concatenate", shape)
    if number is None:
        raise stop("concatenate: the axis is not known")
    number = number - shape.rank if number >= 0 and shape.rank is not None else number
    one = shape.dim(number)
    size = pieces.widths if number == -1 else one * pieces.count if one is not None and pieces.count is not None else None
    return Array(with_dim(shape, number, size))


@rule("stack", "arrays axis")
def _stack(call: Call) -> Value:
    return _stacked(call, "arrays", call.int("axis", 0))


@rule("asarray array", "object dtype")
def _array(call: Call) -> Value:
    """An array of a list of arrays is their stack."""
    value = call.value("object")
    if isinstance(value, Array):
        return value
    of_arrays = isinstance(value, Tup) and value.items and all(isinstance(item, Array) for item in value.items)
    if isinstance(value, Pieces) or of_arrays:
        return _stacked(call, "object", Dim.of(0))
    return Array(array_shape(value))


def _stacked(call: Call, parameter: str, axis: Dim) -> Value:
    pieces = call.value(parameter)
    if isinstance(pieces, Pieces):
        shape = pieces.element.shape
        if axis.value == 0 and shape.lead is not None and not shape.lead.known:
            return Array(Shape(shape.dims, dataclasses.replace(shape.lead, head=(pieces.count, *shape.lead.head))))
        return Array(insert(shape, axis, pieces.count))
    shapes = _maybe_shapes(call, parameter)
    known = [s for s in shapes if s is not None]
    if not known:
        raise stop("stack: no array is known")
    all_of_them = [s if s is not None else known[0] for s in shapes]
    leads = [s.lead for s in all_of_them if s.lead is not None and not s.lead.known]
    if axis.value == 0 and len(leads) == len(all_of_them):
        widths = {s.dims[-1:] for s in all_of_them}  # before dimensions of which no more is known
        if len(widths) == 1:
            return Array(Shape(widths.pop(), Lead.unknown(*[name for lead in leads for name in lead.needs])))
    return Array(stack(all_of_them, axis))


@rule("hstack vstack dstack column_stack row_stack", "tup")
def _stacks(call: Call) -> Value:
    shapes = call.shapes("tup")
    name = call.name.rpartition(".")[2]
    if any(s.rank is None for s in shapes):
        raise needs_rank(name, *shapes)
    if name == "hstack":
        shapes = [s if s.rank else Shape.of(1) for s in shapes]
        return Array(concatenate(list(shapes), Dim.of(0 if shapes[0].rank == 1 else 1)))
    if name == "column_stack":
        if any(len(s.dims) > 2 for s in shapes):
            raise stop("column_stack of more than two dimensions")  # so that none are guessed
        shapes = [Shape((*s.dims, Dim.of(1))) if len(s.dims) < 2 else s for s in shapes]
        return Array(concatenate(list(shapes), Dim.of(1)))
    if name == "dstack":
        one = Dim.of(1)
        grown = [s if len(s.dims) > 2 else Shape((*[one] * (len(s.dims) < 2), *(s.dims or (one,)), one)) for s in shapes]
        return Array(concatenate(grown, Dim.of(2)))
    shapes = [Shape((*[Dim.of(1)] * (2 - len(s.dims)), *s.dims)) for s in shapes]
    return Array(concatenate(list(shapes), Dim.of(0)))


@rule("split array_split", "ary indices_or_sections axis")
@rule("hsplit vsplit", "ary indices_or_sections")
def _split(call: Call) -> Value:
    shape = call.shape("ary")
    axis = call.int("axis", 0)
    if call.name.endswith("hsplit"):
        if shape.rank is None:
            raise needs_rank("hsplit", shape)
        axis = Dim.of(1 if shape.rank > 1 else 0)
    number = negative_axis(shape, axis)
    shape = spelled(shape, number)
    size, wanted = shape.dims[number], call.value("indices_or_sections")
    sizes: list[Dim | None]
    if isinstance(wanted, Tup):
        ends = [int_of(item, "split position") for item in wanted.items]
        sizes = []
        last: Dim = Dim.of(0)
        for end in ends:
            if end.value is not None and end.value < 0:
                raise stop("split at a negative position")
            sizes.append(end - last)
            last = end
        sizes.append(None if size is None else size - last)
    else:
        count = int_of(wanted, "the number of parts")
        parts = count.value
        # jnp.split has equal parts, or the program would not run
        equal = not call.name.endswith("array_split")
        if parts is None and equal:
            return Pieces(Array(with_dim(shape, number, None if size is None else size // count)))
        if parts is None or not 0 < parts < 1000:
            raise stop("split: the number of parts is not a constant")
        sizes = [None if size is None else size // parts] * parts if equal else split_sizes(size, parts)
    return Tup(tuple(Array(with_dim(shape, number, s)) for s in sizes), "list")


@rule("unstack", "x axis")
def _unstack(call: Call) -> Value:
    shape = call.shape("x")
    number = negative_axis(shape, call.int("axis", 0))
    size = spelled(shape, number).dims[number]
    if size is None or size.value is None:
        raise stop("unstack: the number of parts is not known")
    return Tup(tuple(Array(with_dim(shape, number)) for _ in range(size.value)))


# picking -------------------------------------------------------------------------------------------------------


@rule("take", "a indices axis")
def _take(call: Call) -> Value:
    shape, picked = call.shape("a"), call.shape("indices")
    if not call.has("axis"):
        return Array(picked)
    number = negative_axis(shape, call.int("axis"))
    if picked.rank is None:
        if shape.rank == -number == 1 or (shape.rank is not None and shape.rank == -number):
            # the axis is the first: the indices' dimensions come in front
            return Array(Shape((*picked.dims, *shape.dims[1:]), picked.lead))
        raise needs_rank("take", picked)
    return Array(with_dim(shape, number, *picked.dims))


@rule("take_along_axis", "arr indices axis")
def _take_along_axis(call: Call) -> Value:
    shape, picked = call.shape("arr"), call.shape("indices")
    if not call.has("axis"):
        return Array(picked)
    number = negative_axis(picked if picked.rank is not None else shape, call.int("axis"))
    length = spelled(picked, number).dims[number]
    return Array(with_dim(broadcast(with_dim(shape, number, 1), with_dim(picked, number, 1)), number, length))


@rule("diagonal", "a offset axis1 axis2")
def _diagonal(call: Call) -> Value:
    shape = call.shape("a")
    if any(call.has(name) for name in ("offset", "axis1", "axis2")) or shape.rank != 2:
        raise stop("diagonal other than of a matrix")
    rows, columns = shape.dims
    return Array(Shape((None if rows is None or columns is None else rows.minimum(columns),)))


@rule("diag", "v k")
def _diag(call: Call) -> Value:
    shape = call.shape("v")
    if call.has("k") or shape.rank is None:
        raise stop("diag with an offset or of an array of unknown rank")
    if shape.rank == 1:
        return Array(Shape((shape.dims[0], shape.dims[0])))
    rows, columns = imply(shape, 2).dims
    return Array(Shape((None if rows is None or columns is None else rows.minimum(columns),)))


@rule("diff", "a n axis")
def _diff(call: Call) -> Value:
    shape, count = call.shape("a"), call.int("n", 1)
    number = negative_axis(shape, call.int("axis", -1))
    size = spelled(shape, number).dims[number]
    if call.extra:
        raise stop("diff with prepend or append")
    return Array(with_dim(shape, number, None if size is None else size - count))


@rule("atleast_1d atleast_2d atleast_3d", "*arys")
def _atleast(call: Call) -> Value:
    shapes = call.shapes("arys")
    wanted = int(call.name[-2])
    if len(shapes) != 1 or shapes[0].rank is None or (wanted == 3 and shapes[0].rank < 3):
        raise stop(call.name)
    own = shapes[0].dims
    return Array(Shape((Dim.of(1),) * (wanted - len(own)) + own))


@rule("triu_indices tril_indices", "n k m")
def _tri_indices(call: Call) -> Value:
    n, offset = call.int("n"), call.int("k", 0).value
    if call.has("m") or offset is None:
        raise stop("triangle of a rectangle")
    if call.name.endswith("tril_indices"):
        offset = -offset
    side = n - offset  # n - k rows of lengths n - k, ..., 1 for k >= 0
    count = side * (side + 1) // 2 if offset >= 0 else None
    return Tup((Array(Shape((count,))), Array(Shape((count,)))))


@rule("apply_along_axis apply_over_axes unique nonzero argwhere flatnonzero compress extract", "a *rest")
def _data_dependent(call: Call) -> Value:
    raise stop(f"{call.name}: the shape depends on values")


@rule("append", "arr values axis")
def _append(call: Call) -> Value:
    both = [call.shape("arr"), call.shape("values")]
    if call.has("axis"):
        return Array(concatenate(list(both), call.int("axis")))
    sizes = [shape.size() for shape in both]
    return Array(Shape((None if sizes[0] is None or sizes[1] is None else sizes[0] + sizes[1],)))


@rule("block_diag", "*arrs", "jax.scipy.linalg")
def _block_diag(call: Call) -> Value:
    rows, columns = Dim.of(0), Dim.of(0)
    for shape in call.shapes("arrs"):
        dims = imply(shape, 2).dims
        if dims[0] is None or dims[1] is None:
            raise stop("block_diag of a matrix whose sizes are not known")
        rows, columns = rows + dims[0], columns + dims[1]
    return Array(Shape((rows, columns)))
