"""What library calls, methods, attributes, indices and operators do to abstract values.

The one entry for symbolic execution: every function takes and returns values, never raises and never guesses; what is
not known is `Unknown` with the reason (`NeedsRank` where the ranks of arguments would settle it). Ranks that the
operations themselves imply (`x.transpose(0, 2, 1)`, einsum, unpacking a shape) are collected by `implied_ranks()`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import ParamSpec

from ...catalog import shape_table as table
from ..values.values import (
    Array,
    At,
    Const,
    Int,
    NeedsRank,
    Shape,
    Slice,
    Star,
    Tup,
    Unknown,
    Value,
    shape_value,
)
from . import masks, shape_arith, shape_builtins, shape_index, shape_move, shape_nn, shape_numpy
from .shape_args import RULES, as_shape, bind, join
from .shape_conv import (
    conv_output_dims,
    conv_transpose_output_dims,
    dilated,
    pool_output_dims,
    window_dim,
)
from .shape_nn import read_padding
from .shape_ops import Stop, broadcast, implied_ranks, reshape, stop
from .shape_ops import reduce as reduce_shape

__all__ = [
    "RULE_MODULES",
    "Slice",
    "Star",
    "Stop",
    "array_index",
    "as_shape",
    "attribute",
    "binary",
    "broadcast",
    "build",
    "call",
    "compare",
    "conv_output_dims",
    "conv_transpose_output_dims",
    "dilated",
    "implied_ranks",
    "index",
    "known_call",
    "method",
    "pool_output_dims",
    "read_padding",
    "reduce_shape",
    "reshape",
    "truth",
    "unary",
    "unpack",
    "unpack_star",
    "window_dim",
]

P = ParamSpec("P")
RULE_MODULES = (shape_builtins, shape_move, shape_nn, shape_numpy)  # importing them registers their rules
truth = shape_arith.truth
array_index = shape_index.array_index

# What an operation on values of unexpected kinds may raise besides Stop; a crash would cost the whole file.
_FAILURES = (ArithmeticError, LookupError, TypeError, ValueError, AttributeError, AssertionError, RecursionError)


def _value_or_unknown(function: Callable[P, Value]) -> Callable[P, Value]:
    @functools.wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> Value:
        try:
            return function(*args, **kwargs)
        except Stop as known:
            return known.value
        except _FAILURES as error:
            return Unknown(f"{function.__name__}: {type(error).__name__}: {error}")

    return wrapped


# calls ---------------------------------------------------------------------------------------------------------


def _rule_name(name: str) -> str | None:
    """The name that a rule is registered under: numpy's functions are those of jax.numpy."""
    if name in RULES:
        return name
    if name.startswith("numpy."):
        return _rule_name(f"jax.{name}")
    for old, new in (
        ("jax.lax.linalg.", "jax.numpy.linalg."),
        ("scipy.special.", "jax.scipy.special."),
        ("flax.nn.", "flax.linen."),
    ):
        if name.startswith(old) and new + name[len(old) :] in RULES:
            return new + name[len(old) :]
    return None


def known_call(name: str) -> bool:
    """Is there a rule for this function?"""
    return _rule_name(name) is not None


@_value_or_unknown
def call(name: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """The result of calling the library function `name` (canonical, dotted)."""
    found = _rule_name(name)
    if found is None:
        raise stop(f"`{name}` is not known")
    handler, signature = RULES[found]
    return masks.marked(handler(bind(name, signature, _spread(args), keywords)), name, args, keywords)


def _spread(args: Sequence[Value]) -> tuple[Value, ...]:
    """Positional arguments with `*known` spread out."""
    if not any(isinstance(arg, Star) for arg in args):
        return tuple(args)
    joined = join(list(args))
    if not isinstance(joined, Tup):
        raise stop("starred arguments of unknown number")
    return joined.items


@_value_or_unknown
def build(items: Sequence[Value], kind: str = "tuple") -> Value:
    """The tuple or list display of `items`, which may hold `Star(value)`: `(*x.shape[:-1], heads, -1)`."""
    return join(items, kind)


# methods -------------------------------------------------------------------------------------------------------

# Methods that are a jax.numpy function with the array as the first argument.
_NUMPY_METHODS = frozenset(table.ARRAY_METHODS.split())
_SAME_METHODS = frozenset({"astype", "copy", "block_until_ready", "__array__", "addressable_data", "to_device"})
_AT_METHODS = frozenset({"set", "add", "subtract", "multiply", "mul", "divide", "power", "min", "max", "apply"})
_STR_METHODS = frozenset(table.STR_METHODS.split())


@_value_or_unknown
def method(value: Value, name: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """The result of `value.name(*args, **keywords)`."""
    if isinstance(value, Unknown):
        return value
    if isinstance(value, Array):
        return _array_method(value, name, args, keywords)
    if isinstance(value, At) and value.index is not None:
        if name == "get":
            return shape_index.index(value.array, value.index)
        if name in _AT_METHODS:
            return value.array
    if isinstance(value, Const) and isinstance(value.value, str) and name in _STR_METHODS:
        texts = [shape_arith.to_python(arg) for arg in _spread(args)]
        named = {key: shape_arith.to_python(arg) for key, arg in keywords.items()}
        return shape_arith.from_python(getattr(value.value, name)(*texts, **named))
    if isinstance(value, Tup) and name == "count":
        answers = [shape_arith.equality(item, args[0]) for item in value.items]
        if None not in answers:
            return shape_arith.from_python(answers.count(True))
    raise stop(f"method `{name}` of {type(value).__name__}")


def _array_method(value: Array, name: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    if name == "reshape":
        return Array(reshape(value.shape, _variadic(args, keywords, "shape")))
    if name == "flatten":
        return Array(reshape(value.shape, Shape.of(-1)))
    if name == "transpose" and len(args) > 1:
        args = [Tup(_spread(args))]
    if name in _SAME_METHODS:
        return value if name != "astype" else Array(value.shape, any(map(masks.is_kind, (*args, *keywords.values()))))
    if name == "item":
        return Array(Shape(()))
    if name in _NUMPY_METHODS:
        return _rule_call(f"jax.numpy.{name}", [value, *args], keywords)
    raise stop(f"method `{name}` of an array")


def _rule_call(name: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """A rule that must exist, by name. Raises Stop."""
    handler, signature = RULES[name]
    return handler(bind(name, signature, _spread(args), keywords))


def _variadic(args: Sequence[Value], keywords: Mapping[str, Value], parameter: str) -> Shape:
    """`x.reshape(2, 3)` and `x.reshape((2, 3))`."""
    if not args and parameter in keywords:
        return as_shape(keywords[parameter])
    if len(args) == 1 and not isinstance(args[0], Star | Int):
        return as_shape(args[0])
    return as_shape(join(list(args)))


# attributes ----------------------------------------------------------------------------------------------------


@_value_or_unknown
def attribute(value: Value, name: str) -> Value:
    """`value.name`."""
    if isinstance(value, Unknown):
        return value
    if isinstance(value, Array):
        return _array_attribute(value, name)
    raise stop(f"attribute `{name}` of {type(value).__name__}")


def _array_attribute(value: Array, name: str) -> Value:
    shape = value.shape
    if name == "shape":
        return shape_value(shape)
    if name == "ndim":
        ndim = shape.ndim()
        if ndim is not None:
            return Int(ndim)
        return NeedsRank("the number of dimensions", shape.needs())
    if name == "size":
        size = shape.size()
        if size is not None:
            return Int(size)
        raise stop("the size of an array whose dimensions are not all known")
    if name == "T":
        return Array(shape_move.transpose(shape, None), value.boolean)
    if name == "mT":
        return _rule_call("jax.numpy.matrix_transpose", [value], {})
    if name in ("real", "imag"):
        return Array(shape)
    if name == "at":
        return At(value)
    raise stop(f"attribute `{name}` of an array")


# operators -----------------------------------------------------------------------------------------------------


@_value_or_unknown
def index(value: Value, item: Value) -> Value:
    """`value[item]`; item is an Int, Slice, Const(None), Const(...), Array, or a Tup of those."""
    return shape_index.index(value, item)


@_value_or_unknown
def binary(op: str, a: Value, b: Value) -> Value:
    """`a op b`; op as Python writes it or as `ast` names it."""
    return shape_arith.binary(op, a, b)


@_value_or_unknown
def unary(op: str, a: Value) -> Value:
    """`op a`."""
    return shape_arith.unary(op, a)


@_value_or_unknown
def compare(op: str, a: Value, b: Value) -> Value:
    """`a op b`: Const(True) or Const(False) only where it is certain."""
    return shape_arith.compare(op, a, b)


def unpack(value: Value, count: int) -> tuple[Value, ...] | None:
    """The items of `a, b, ... = value`; None where they are not known.

    Unpacking the shape of an argument of unknown rank tells its rank: see `implied_ranks`.
    """
    try:
        return shape_index.unpack(value, count)
    except (Stop, *_FAILURES):
        return None


def unpack_star(value: Value, before: int, after: int) -> tuple[tuple[Value, ...], Value, tuple[Value, ...]] | None:
    """The parts of `a, *rest, b = value`; None where they are not known."""
    try:
        return shape_index.unpack_star(value, before, after)
    except (Stop, *_FAILURES):
        return None
