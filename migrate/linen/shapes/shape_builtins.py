"""Python's built-in functions, `math` and `operator` over abstract values."""

from __future__ import annotations

from ..values.dims import Dim
from ..values.values import Array, Axes, Const, Int, Pieces, ShapeOf, Slice, Tup, Unknown, Value
from .shape_args import Call, int_of, is_number, rule
from .shape_arith import MAX_ITEMS, binary, from_python, real, to_int, to_python, truth, value_stop
from .shape_index import unpack
from .shape_numpy import fold_sizes
from .shape_ops import Stop, stop

# built-in functions and math -----------------------------------------------------------------------------------


@rule("int round math.floor math.ceil math.trunc builtins.int builtins.round", "x ndigits", "")
@rule("numpy.ceil numpy.floor", "x", "")
def _to_int(call: Call) -> Value:
    if call.has("ndigits"):
        if isinstance(call.value("x"), Const | Int) and isinstance(call.value("ndigits"), Int):
            return from_python(round(to_python(call.value("x")), int_of(call.value("ndigits"), "digits").value))  # type: ignore[call-overload]
        raise stop("round to digits")
    name = call.name.replace("builtins.", "").replace("numpy.", "math.").replace("math.trunc", "int")
    return to_int(call.value("x"), name)


@rule("float builtins.float", "x", "")
def _float(call: Call) -> Value:
    value = call.value("x")
    if is_number(value):
        number = real("float({0})", value)
        return Const(float(number.dim.value)) if isinstance(number, Int) and number.dim.value is not None else number
    raise value_stop(value, "float of something that is not a number")


@rule("bool builtins.bool", "x", "")
def _bool(call: Call) -> Value:
    known = truth(call.value("x"))
    if known is None:
        raise value_stop(call.value("x"), "not known to be true or false")
    return Const(known)


@rule("abs builtins.abs math.fabs", "x", "")
def _abs(call: Call) -> Value:
    value = call.value("x")
    if isinstance(value, Array):
        return value
    if isinstance(value, Int) and (value.dim.lower_bound(fields=False) or -1) >= 0:
        return value
    if isinstance(value, Int) and not call.name.endswith("fabs"):
        return Int(Dim.expr("abs({0})", value.dim))
    return real("abs({0})", value)


@rule("len builtins.len", "x", "")
def _len(call: Call) -> Value:
    value = call.value("x")
    if isinstance(value, Tup):
        return Int(Dim.of(len(value.items)))
    if isinstance(value, ShapeOf):
        ndim = value.shape.ndim()
        if ndim is not None:
            return Int(ndim)
    if isinstance(value, Array):
        first = value.shape.dim(0)
        if first is not None:
            return Int(first)
    if isinstance(value, Const) and isinstance(value.value, str | bytes):
        return Int(Dim.of(len(value.value)))
    raise value_stop(value, "the length is not known")


@rule("max min builtins.max builtins.min", "*args", "")
def _extreme(call: Call) -> Value:
    values = call.items("args")
    if call.extra:
        raise stop(f"{call.name} with options")
    if len(values) == 1:  # of the items of something
        (held,) = values
        if not isinstance(held, Tup):
            raise Stop(held) if isinstance(held, Unknown) else stop(f"the items that {call.name} compares are not known")
        values = held.items
    name = call.name.rpartition(".")[2]
    found = fold_sizes(name, Tup(tuple(values)))
    if found is not None:
        return found
    if values and all(is_number(v) for v in values):
        return real(f"{name}({', '.join(f'{{{i}}}' for i in range(len(values)))})", *values)
    raise next((Stop(v) for v in values if isinstance(v, Unknown)), stop(f"{name} of what is not a number"))


@rule("sum builtins.sum math.prod", "values start", "")
def _sum(call: Call) -> Value:
    name = "prod" if call.name.endswith("prod") else "sum"
    value = call.value("values")
    if isinstance(value, Unknown):
        raise Stop(value)
    if isinstance(value, Pieces) and name == "sum":
        return value.element
    found = fold_sizes(name, value)
    if name == "sum" and found is None and isinstance(value, Tup) and value.items:
        total = call.bound.get("start", Int(Dim.of(0)))
        for item in value.items:  # numbers or arrays
            total = binary("+", total, item)
        return total
    if found is None:
        raise stop(f"{name} of what are not sizes")
    if call.has("start"):
        return binary("*" if name == "prod" else "+", found, call.value("start"))
    return found


@rule("tuple list builtins.tuple builtins.list", "x", "")
def _sequence(call: Call) -> Value:
    kind = call.name.rpartition(".")[2]
    value = call.bound.get("x", Tup(()))
    if isinstance(value, Tup):
        return Tup(value.items, kind)
    if isinstance(value, ShapeOf):
        return ShapeOf(value.shape, kind)
    if isinstance(value, Axes):
        return value
    lead = value.shape.lead if isinstance(value, Array) else None
    first = value.shape.dims if isinstance(value, Array) and lead is None else lead.head if lead is not None else ()
    rows = first[0] if first and (lead is None or lead.known) else None
    if rows is not None and rows.value is not None and rows.value <= MAX_ITEMS:  # `q, k, v = tuple(qkv)`
        return Tup(unpack(value, rows.value), kind)
    raise value_stop(value, f"{kind} of what is not a sequence of known length")


@rule("range builtins.range", "start stop step", "")
def _range(call: Call) -> Value:
    given = [int_of(call.value(name), "range") for name in ("start", "stop", "step") if name in call.bound]
    numbers = [dim.value for dim in given]
    if len(given) == 1 and any(atom.kind == "rank" for atom in given[0].atoms()):
        return Axes(given[0])
    if None in numbers:
        raise stop("a range that is not constant")
    made = range(*[n for n in numbers if n is not None])
    if len(made) > MAX_ITEMS:
        raise stop("a very long range")
    return Tup(tuple(Int(Dim.of(i)) for i in made), "list")


@rule("slice builtins.slice", "start stop step", "")
def _slice(call: Call) -> Value:
    parts = [call.value(name) if name in call.bound else None for name in ("start", "stop", "step")]
    return Slice(None, parts[0], None) if parts[1] is None else Slice(*parts)


@rule("delete", "arr obj axis", "numpy")
def _delete(call: Call) -> Value:
    """`np.delete(range(n), axes)`: numbers without those at some places."""
    kept, places = call.value("arr"), call.value("obj")
    if not isinstance(kept, Tup) or call.has("axis"):
        raise value_stop(kept, "delete of what is not a row of numbers")
    numbers = to_python(Tup(places.items if isinstance(places, Tup) else (places,)))
    assert isinstance(numbers, tuple)
    left = {number % len(kept.items) for number in numbers}
    return Tup(tuple(item for place, item in enumerate(kept.items) if place not in left), "array")


@rule("reversed builtins.reversed sorted builtins.sorted", "x", "")
def _reordered(call: Call) -> Value:
    value = call.value("x")
    if not isinstance(value, Tup):
        raise value_stop(value, "a sequence that is not known")
    if call.name.endswith("reversed"):
        return Tup(value.items[::-1], "list")
    if call.extra:
        raise stop("sorted with options")
    items = to_python(value)
    assert isinstance(items, tuple | list)
    try:
        return from_python(sorted(items))
    except TypeError as error:
        raise stop("sorted of unlike items") from error


@rule("_normalize_axes", "axes ndim", "flax.linen")
def _normalize_axes(call: Call) -> Value:
    """Linen's helper: axes counted from the front."""
    axes, ndim = call.axes("axes") or [], call.int("ndim")
    if any(axis.value is None for axis in axes):
        raise stop("axes that are not constants")
    return Tup(tuple(Int(axis if (axis.value or 0) >= 0 else ndim + axis) for axis in axes))


@rule("zip builtins.zip", "*sequences", "")
def _zip(call: Call) -> Value:
    rows = [item.items if isinstance(item, Tup) else None for item in call.items("sequences")]
    known = [row for row in rows if row is not None]
    if len(known) != len(rows):
        raise stop("zip of a sequence that is not known")
    return Tup(tuple(Tup(tuple(row)) for row in zip(*known)), "list")


@rule("enumerate builtins.enumerate", "sequence start", "")
def _enumerate(call: Call) -> Value:
    start = call.int("start", 0)
    return Tup(
        tuple(Tup((Int(start + index), item)) for index, item in enumerate(call.items("sequence"))),
        "list",
    )


@rule("sqrt log log2 log10 exp sin cos tan tanh", "x", "math")
@rule("sqrt log log2 log10 exp", "x", "numpy")
def _math(call: Call) -> Value:
    value = call.value("x")
    if isinstance(value, Array):
        return value
    if not is_number(value):
        raise value_stop(value, f"{call.name} of something that is not a number")
    return real(f"math.{call.name.rpartition('.')[2]}({{0}})", value)


@rule("pow builtins.pow math.pow", "x y", "")
def _pow(call: Call) -> Value:
    if call.name == "math.pow":
        return real("math.pow({0}, {1})", call.value("x"), call.value("y"))
    return binary("**", call.value("x"), call.value("y"))


@rule("math.gcd", "a b", "")
def _gcd(call: Call) -> Value:
    a, b = call.int("a"), call.int("b")
    return Int(Dim.expr("math.gcd({0}, {1})", a, b))


@rule("add mul sub truediv floordiv mod matmul", "a b", "operator")
def _operator(call: Call) -> Value:
    signs = {"add": "+", "mul": "*", "sub": "-", "truediv": "/", "floordiv": "//", "mod": "%", "matmul": "@"}
    return binary(signs[call.name.rpartition(".")[2]], call.value("a"), call.value("b"))
