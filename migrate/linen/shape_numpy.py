"""Shapes of jax.numpy (and numpy) functions."""

from __future__ import annotations

from ..catalog import shape_table as table
from .dims import Dim
from .shape_args import NONE, Call, array_shape, int_of, is_number, rule
from .shape_ops import (
    Stop,
    broadcast,
    broadcast_to,
    concatenate,
    dot,
    imply,
    insert,
    matmul,
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
from .shape_patterns import einsum
from .values import Array, Const, Int, Real, Shape, ShapeOf, Tup, Unknown, Value

# elementwise ---------------------------------------------------------------------------------------------------


@rule(table.NUMPY_UNARY, "x *rest")
@rule(table.ACTIVATIONS, "x *rest", "jax.nn")
@rule(table.ACTIVATIONS, "x *rest", "flax.linen")
@rule(table.LAX_UNARY, "x *rest", "jax.lax")
@rule(
    "bessel_jn digamma entr erf erfc erfinv expit gammaln i0 i0e i1 i1e log_ndtr logit ndtr ndtri",
    "x",
    "jax.scipy.special",
)
@rule("norm.cdf norm.pdf norm.logpdf norm.ppf", "x loc scale", "jax.scipy.stats")
def _unary(call: Call) -> Value:
    """The shape of the first argument; what else is passed (slopes, axes, dtypes) does not change it."""
    return Array(call.shape("x"))


@rule(table.NUMPY_BINARY, "x y")
@rule(table.LAX_BINARY, "x y", "jax.lax")
@rule("xlogy xlog1py", "x y", "jax.scipy.special")
def _binary(call: Call) -> Value:
    return Array(broadcast(call.shape("x"), call.shape("y")))


@rule("clip", "arr min max a_min a_max")
def _clip(call: Call) -> Value:
    bounds = [call.shape(name) for name in ("min", "max", "a_min", "a_max") if call.has(name)]
    return Array(broadcast(call.shape("arr"), *bounds))


@rule("clamp", "min x max", "jax.lax")
def _clamp(call: Call) -> Value:
    return Array(call.shape("x"))


@rule("where", "condition x y")
@rule("select_n select", "condition x y", "jax.lax")
@rule("where", "condition x y", "jax.lax")
def _where(call: Call) -> Value:
    if not call.has("x") or not call.has("y"):
        raise stop(f"{call.name} with one argument: the number of hits is not known")
    return Array(broadcast(*[call.shape(name) for name in ("condition", "x", "y")]))


@rule("asarray array", "object dtype")
def _array(call: Call) -> Value:
    value = call.value("object")
    return value if isinstance(value, Array) else Array(array_shape(value))


@rule("cumsum cumprod nancumsum nancumprod", "a axis dtype")
def _cumulative(call: Call) -> Value:
    if call.has("axis"):
        return Array(call.shape("a"))
    return Array(Shape((call.shape("a").size(),)))


@rule("sort argsort", "a axis kind order")
def _sort(call: Call) -> Value:
    if "axis" in call.bound and call.bound["axis"] == NONE:
        return Array(Shape((call.shape("a").size(),)))
    return Array(call.shape("a"))


@rule("flip fliplr flipud roll tril triu", "m *rest")
def _same(call: Call) -> Value:
    return Array(call.shape("m"))


# reductions ----------------------------------------------------------------------------------------------------


def _reduction(call: Call) -> Value:
    return Array(reduce(call.shape("a"), call.axes("axis"), call.flag("keepdims", False)))


for _signature, _names in table.REDUCTION_SIGNATURES.items():
    rule(_names, _signature)(_reduction)
rule("logsumexp", "a axis b keepdims", "jax.scipy.special")(_reduction)
rule("logsumexp", "a axis b keepdims", "jax.nn")(_reduction)


@rule("argmax argmin nanargmax nanargmin", "a axis out keepdims")
@rule("argmax argmin", "a axis index_dtype", "jax.lax")
def _argmax(call: Call) -> Value:
    return _reduction(call)


@rule("prod", "a axis dtype out keepdims")
@rule("sum", "a axis dtype out keepdims")
@rule("max amax min amin", "a axis out keepdims")
def _reduce_sizes(call: Call) -> Value:
    """As any reduction; over a tuple of sizes the result is a size."""
    value = call.value("a")
    if isinstance(value, Tup | ShapeOf) and not call.has("axis"):
        number = fold_sizes(call.name.rpartition(".")[2], value)
        if number is not None:
            return number
    return _reduction(call)


def fold_sizes(operation: str, value: Value) -> Value | None:
    """The product, sum, maximum or minimum of a tuple of sizes; None where that is not a size."""
    if isinstance(value, ShapeOf):
        size = value.shape.size() if operation == "prod" else None
        return None if size is None else Int(size)
    if not isinstance(value, Tup) or not all(isinstance(item, Int) for item in value.items):
        return None
    dims = [item.dim for item in value.items if isinstance(item, Int)]
    if not dims:
        return Int(Dim.of(1 if operation == "prod" else 0)) if operation in ("prod", "sum") else None
    total = dims[0]
    for dim in dims[1:]:
        if operation == "prod":
            total = total * dim
        elif operation == "sum":
            total = total + dim
        else:
            total = total.maximum(dim) if operation in ("max", "amax") else total.minimum(dim)
    return Int(total)


@rule("norm", "x ord axis keepdims", "jax.numpy.linalg")
def _norm(call: Call) -> Value:
    return Array(reduce(call.shape("x"), call.axes("axis"), call.flag("keepdims", False)))


@rule("average", "a axis weights returned keepdims")
def _average(call: Call) -> Value:
    out = Array(reduce(call.shape("a"), call.axes("axis"), call.flag("keepdims", False)))
    return Tup((out, out)) if call.flag("returned", False) else out


@rule("quantile percentile nanquantile", "a q axis out overwrite_input method keepdims")
def _quantile(call: Call) -> Value:
    reduced = reduce(call.shape("a"), call.axes("axis"), call.flag("keepdims", False))
    wanted = call.shape("q")
    if wanted.rank is None:
        raise needs_rank("quantile", wanted)
    out = reduced
    for dim in reversed(wanted.dims):
        out = insert(out, Dim.of(0), dim)
    return Array(out)


# making arrays -------------------------------------------------------------------------------------------------


@rule("zeros ones empty", "shape dtype")
@rule("full", "shape fill_value dtype")
@rule("full", "shape fill_value dtype", "jax.lax")
def _filled(call: Call) -> Value:
    return Array(call.target("shape"))


@rule("zeros_like ones_like empty_like", "a dtype shape")
@rule("full_like", "a fill_value dtype shape")
@rule("full_like", "a fill_value dtype shape", "jax.lax")
def _like(call: Call) -> Value:
    return Array(call.target("shape") if call.has("shape") else call.shape("a"))


@rule("arange", "start stop step dtype")
def _arange(call: Call) -> Value:
    start, end, step = call.value("start"), call.bound.get("stop", NONE), call.bound.get("step", NONE)
    if end == NONE:
        start, end = Int(Dim.of(0)), start
    if step == NONE:
        step = Int(Dim.of(1))
    for value in (start, end, step):
        if isinstance(value, Unknown):
            raise Stop(value)
    if not isinstance(start, Int) or not isinstance(end, Int) or not isinstance(step, Int):
        return Array(Shape((None,)))
    width = step.dim.value
    if width is None or width == 0:
        length = (end.dim - start.dim).ceil_div(step.dim) if (step.dim.lower_bound() or 0) > 0 else None
    elif width > 0:
        length = (end.dim - start.dim).ceil_div(width)
    else:
        length = (start.dim - end.dim).ceil_div(-width)
    if length is not None and length.value is not None:
        length = length.maximum(0)
    return Array(Shape((length,)))


@rule("linspace", "start stop num endpoint retstep")
@rule("logspace geomspace", "start stop num endpoint")
def _linspace(call: Call) -> Value:
    ends = broadcast(call.shape("start"), call.shape("stop"))
    out = Array(insert(ends, Dim.of(0), call.int("num", 50)))
    return Tup((out, Array(Shape(())))) if "retstep" in call.bound and call.flag("retstep", False) else out


@rule("eye", "N M")
@rule("identity", "n")
@rule("tri", "N M")
def _eye(call: Call) -> Value:
    rows = call.int("n" if "n" in call.bound else "N")
    return Array(Shape((rows, call.int("M") if call.has("M") else rows)))


@rule("meshgrid", "*xi")
def _meshgrid(call: Call) -> Value:
    sizes = [imply(shape, 1).dims[0] if shape.rank != 0 else Dim.of(1) for shape in call.shapes("xi")]
    indexing = call.extra.get("indexing", Const("xy"))
    if call.extra.keys() - {"indexing"} or indexing not in (Const("xy"), Const("ij")):
        raise stop("meshgrid with options")
    if indexing == Const("xy") and len(sizes) >= 2:
        sizes[0], sizes[1] = sizes[1], sizes[0]
    return Tup(tuple(Array(Shape(tuple(sizes))) for _ in sizes), "list")


@rule("indices", "dimensions dtype sparse")
def _indices(call: Call) -> Value:
    sizes = call.dims("dimensions")
    if call.flag("sparse", False):
        raise stop("indices(sparse=True)")
    return Array(Shape((Dim.of(len(sizes)), *sizes)))


# rearranging ---------------------------------------------------------------------------------------------------


@rule("reshape", "a shape order")
@rule("reshape", "a shape dimensions", "jax.lax")
def _reshape(call: Call) -> Value:
    return Array(reshape(call.shape("a"), call.target("shape")))


@rule("ravel", "a order")
def _ravel(call: Call) -> Value:
    return Array(reshape(call.shape("a"), Shape.of(-1)))


@rule("transpose", "a axes")
@rule("permute_dims", "a axes")
@rule("transpose", "a axes", "jax.lax")
def _transpose(call: Call) -> Value:
    return Array(transpose(call.shape("a"), call.axes("axes")))


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
    from .shape_args import as_shape
    from .values import shape_value

    return shape_value(broadcast(*[as_shape(item) for item in call.items("shapes")]))


@rule("tile", "A reps")
def _tile(call: Call) -> Value:
    shape, reps = call.shape("A"), call.dims("reps")
    if shape.rank is None and any(r is None or r.value != 1 for r in reps):
        shape = shape.expand(len(reps))
        if len(reps) > 1:
            raise needs_rank("tile", shape)
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
    shapes = _maybe_shapes(call, "arrays")
    if "axis" in call.bound and call.bound["axis"] == NONE:
        total = Dim.of(0)
        for shape in shapes:
            size = None if shape is None else shape.size()
            if size is None:
                return Array(Shape((None,)))
            total = total + size
        return Array(Shape((total,)))
    return Array(concatenate(shapes, call.int("axis", 0)))


@rule("stack", "arrays axis")
def _stack(call: Call) -> Value:
    shapes = _maybe_shapes(call, "arrays")
    known = [s for s in shapes if s is not None]
    if not known:
        raise stop("stack: no array is known")
    return Array(stack([s if s is not None else known[0] for s in shapes], call.int("axis", 0)))


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
        shapes = [Shape((*s.dims, Dim.of(1))) if len(s.dims) < 2 else s for s in shapes]
        return Array(concatenate(list(shapes), Dim.of(1)))
    if name == "dstack":
        raise stop("dstack")
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
        parts = int_of(wanted, "the number of parts").value
        if parts is None or not 0 < parts < 1000:
            raise stop("split: the number of parts is not a constant")
        # jnp.split has equal parts, or the program would not run
        equal = not call.name.endswith("array_split")
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


# products ------------------------------------------------------------------------------------------------------


@rule("matmul", "a b")
def _matmul(call: Call) -> Value:
    return Array(matmul(call.shape("a"), call.shape("b")))


@rule("dot", "a b")
@rule("dot", "a b", "jax.lax")
def _dot(call: Call) -> Value:
    return Array(dot(call.shape("a"), call.shape("b")))


@rule("einsum", "subscripts *operands")
def _einsum(call: Call) -> Value:
    return Array(einsum(call.text("subscripts"), call.shapes("operands")))


@rule("outer", "a b")
def _outer(call: Call) -> Value:
    return Array(Shape((call.shape("a").size(), call.shape("b").size())))


@rule("inner", "a b")
def _inner(call: Call) -> Value:
    a, b = call.shape("a"), call.shape("b")
    if a.rank == 0 or b.rank == 0:
        return Array(broadcast(a, b))
    left, right = spelled(a, -1).replace_last(1), spelled(b, -1).replace_last(1)
    if right.rank is None:
        raise needs_rank("inner", right)
    return Array(Shape((*left.dims, *right.dims), left.lead))


@rule("vdot", "a b")
def _vdot(call: Call) -> Value:
    return Array(Shape(()))


@rule("tensordot", "a b axes")
def _tensordot(call: Call) -> Value:
    a, b = call.shape("a"), call.shape("b")
    axes = call.bound.get("axes", Int(Dim.of(2)))
    if isinstance(axes, Int):
        count = int_of(axes, "axes").value
        if count is None:
            raise stop("tensordot: `axes` is not a constant")
        left = a
        for _ in range(count):
            left = with_dim(left, -1)
        if b.rank is None:
            raise needs_rank("tensordot", b)
        return Array(Shape((*left.dims, *b.dims[count:]), left.lead))
    if not isinstance(axes, Tup) or len(axes.items) != 2 or b.rank is None:
        raise stop("tensordot: `axes` is not known")
    chosen: list[list[Dim]] = []
    for item in axes.items:
        items = item.items if isinstance(item, Tup) else (item,)
        chosen.append([int_of(i, "axes") for i in items])
    left, right = reduce(a, chosen[0], False), reduce(b, chosen[1], False)
    return Array(Shape((*left.dims, *right.dims), left.lead))


@rule("kron", "a b")
def _kron(call: Call) -> Value:
    a, b = call.shape("a"), call.shape("b")
    if a.rank is None or a.rank != b.rank:
        raise stop("kron of arrays of different or unknown rank")
    pairs = zip(a.dims, b.dims)
    return Array(Shape(tuple(None if x is None or y is None else x * y for x, y in pairs)))


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


# Fourier -------------------------------------------------------------------------------------------------------


@rule("fft ifft rfft irfft hfft ihfft", "a n axis", "jax.numpy.fft")
def _fft(call: Call) -> Value:
    return Array(_fourier(call.shape("a"), call.name, call.int("axis", -1), call.int("n") if call.has("n") else None))


@rule("fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn", "a s axes", "jax.numpy.fft")
def _fftn(call: Call) -> Value:
    shape = call.shape("a")
    if call.has("s"):
        raise stop(f"{call.name} with sizes")
    axes = call.axes("axes") or ([Dim.of(-2), Dim.of(-1)] if call.name.endswith("2") else None)
    kind = call.name.rpartition(".")[2]
    if kind.startswith(("fft", "ifft")):
        return Array(shape)
    return Array(_fourier(shape, kind, axes[-1] if axes else Dim.of(-1), None))


def _fourier(shape: Shape, name: str, axis: Dim, length: Dim | None) -> Shape:
    number = negative_axis(shape, axis)
    size = spelled(shape, number).dims[number]
    kind = name.rpartition(".")[2].rstrip("2n")
    if kind in ("fft", "ifft"):
        out = size if length is None else length
    elif kind in ("rfft", "ihfft"):
        full = size if length is None else length
        out = None if full is None else full // 2 + 1
    else:  # irfft, hfft
        out = length if length is not None else None if size is None else 2 * (size - 1)
    return with_dim(shape, number, out)


@rule("fftfreq rfftfreq", "n d", "jax.numpy.fft")
def _fftfreq(call: Call) -> Value:
    n = call.int("n")
    return Array(Shape((n // 2 + 1 if call.name.endswith("rfftfreq") else n,)))


@rule("fftshift ifftshift", "x", "jax.numpy.fft")
def _fftshift(call: Call) -> Value:
    return Array(call.shape("x"))


@rule("inv pinv cholesky", "a", "jax.numpy.linalg")
@rule("expm", "a", "jax.scipy.linalg")
def _square(call: Call) -> Value:
    shape = call.shape("a")
    return Array(swap(shape, Dim.of(-1), Dim.of(-2)) if call.name.endswith("pinv") else shape)


@rule("det", "a", "jax.numpy.linalg")
def _det(call: Call) -> Value:
    return Array(reduce(call.shape("a"), [Dim.of(-1), Dim.of(-2)], False))


@rule("solve", "a b", "jax.numpy.linalg")
def _solve(call: Call) -> Value:
    return Array(call.shape("b"))


@rule("ndim", "a")
def _ndim(call: Call) -> Value:
    ndim = call.shape("a").ndim()
    if ndim is None:
        raise needs_rank("ndim", call.shape("a"))
    return Int(ndim)


@rule("shape", "a")
def _shape(call: Call) -> Value:
    from .values import shape_value

    return shape_value(call.shape("a"))


@rule("size", "a axis")
def _size(call: Call) -> Value:
    shape = call.shape("a")
    size = shape.dim(call.int("axis").value or 0) if call.has("axis") else shape.size()
    if size is None:
        raise stop("size: not known")
    return Int(size)


@rule("float32 float16 bfloat16 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool_ float_ complex64", "x")
def _scalar_type(call: Call) -> Value:
    value = call.bound.get("x", Const(0.0))
    return value if isinstance(value, Real) or is_number(value) else Array(array_shape(value))
