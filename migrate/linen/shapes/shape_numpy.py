"""Shapes of jax.numpy (and numpy) functions that compute: elementwise, reductions, making arrays, products, Fourier."""

from __future__ import annotations

from ...catalog import shape_table as table
from ..values.dims import Dim
from ..values.values import Array, Const, Int, NeedsRank, Real, Shape, ShapeOf, Tup, Value, shape_value
from .shape_args import NONE, Call, array_shape, int_of, is_number, rule
from .shape_index import array_index
from .shape_move import swap
from .shape_ops import (
    Stop,
    broadcast,
    dot,
    imply,
    insert,
    matmul,
    needs_rank,
    negative_axis,
    reduce,
    spelled,
    stop,
    with_dim,
)
from .shape_patterns import einsum

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
@rule("where", "condition x y", "jax.lax")
def _where(call: Call) -> Value:
    if not call.has("x") or not call.has("y"):
        raise stop(f"{call.name} with one argument: the number of hits is not known")
    return Array(broadcast(*[call.shape(name) for name in ("condition", "x", "y")]))


@rule("select", "condlist choicelist default")
def _selected(call: Call) -> Value:
    choices = call.shapes("choicelist")
    return Array(broadcast(*choices, *([call.shape("default")] if call.has("default") else [])))


@rule("polyval", "p x unroll")
def _polyval(call: Call) -> Value:
    """A polynomial of each number of `x`; coefficients of several have further dimensions."""
    coefficients = call.shape("p")
    if coefficients.rank != 1:
        raise stop("polyval of coefficients whose number of dimensions is not 1")
    return Array(call.shape("x"))


@rule("searchsorted", "a v side sorter")
def _searchsorted(call: Call) -> Value:
    return Array(call.shape("v"))


@rule("select_n select", "condition x y", "jax.lax")
def _select(call: Call) -> Value:
    """Both have one shape, which lax demands: what is known of either."""
    try:
        return Array(call.shape("x"))
    except Stop:
        return Array(call.shape("y"))


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
    shape = call.shape("a")
    try:
        return Array(reduce(shape, call.axes("axis"), call.flag("keepdims", False)))
    except Stop as unknown:
        if isinstance(unknown.value, NeedsRank) or shape.needs():
            raise
        return Array(Shape.unknown())  # over which axes is not known: an array it is all the same


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
        if isinstance(value, NeedsRank):
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


@rule("linspace", "start stop num endpoint retstep dtype axis")
@rule("logspace", "start stop num endpoint base dtype axis")
@rule("geomspace", "start stop num endpoint dtype axis")
def _linspace(call: Call) -> Value:
    ends = broadcast(call.shape("start"), call.shape("stop"))
    out = Array(insert(ends, call.int("axis", 0), call.int("num", 50)))
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
    sparse = call.extra.get("sparse", Const(False))
    if call.extra.keys() - {"indexing", "sparse", "copy"} or indexing not in (Const("xy"), Const("ij")):
        raise stop("meshgrid with options")
    if sparse != Const(False):
        raise stop("meshgrid(sparse=True)")
    if indexing == Const("xy") and len(sizes) >= 2:
        sizes[0], sizes[1] = sizes[1], sizes[0]
    return Tup(tuple(Array(Shape(tuple(sizes))) for _ in sizes), "list")


@rule("indices", "dimensions dtype sparse")
def _indices(call: Call) -> Value:
    sizes = call.dims("dimensions")
    if call.flag("sparse", False):
        raise stop("indices(sparse=True)")
    return Array(Shape((Dim.of(len(sizes)), *sizes)))


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
    return Array(Shape((_size_or_none(call, "a"), _size_or_none(call, "b"))))


def _size_or_none(call: Call, parameter: str) -> Dim | None:
    try:
        return call.shape(parameter).size()
    except Stop:  # whatever it is, it is made one row or column
        return None


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


@rule("trace", "a offset axis1 axis2")
def _trace(call: Call) -> Value:
    shape = call.shape("a")
    axes = [call.int("axis1", 0), call.int("axis2", 1)]
    return Array(reduce(shape, axes, False))


@rule("batch_matmul", "lhs rhs", "jax.lax")
def _batch_matmul(call: Call) -> Value:
    return Array(matmul(call.shape("lhs"), call.shape("rhs")))


@rule("bincount", "x weights minlength length")
def _bincount(call: Call) -> Value:
    if not call.has("length"):
        raise stop("bincount without a length: the shape depends on values")
    return Array(Shape((call.int("length"),)))


@rule("segment_sum segment_prod segment_max segment_min", "data segment_ids num_segments *rest", "jax.ops")
def _segments(call: Call) -> Value:
    rows = Shape((call.int("num_segments") if call.has("num_segments") else None,))
    return Array(array_index(call.shape("data"), (Array(rows),)))
