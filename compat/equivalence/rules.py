"""Rules that give one form to operations which compute the same values. Each docstring says why its two sides are
equal.

"Equal" means equal to the last bit under the IEEE semantics of the primitives, the sign of zero and NaN payloads aside.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .freeze import says_nothing

if TYPE_CHECKING:
    from .canonical import Aval, Canonicaliser

Rule = Callable[["Canonicaliser", dict[str, Any], list[int], "list[Aval]"], "list[int] | None"]
RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Register a rule for primitives."""

    def register(function: Rule) -> Rule:
        for name in names:
            RULES[name] = function
        return function

    return register


def _sharded(params: dict[str, Any]) -> bool:
    """Does the equation state where its result lies? Then it is not merely a movement of data."""
    return any(not says_nothing(params.get(key)) for key in ("sharding", "out_sharding"))


# identities ----------------------------------------------------------------------------------------------------------
@rule("copy", "copy_p", "stop_gradient")
def identity(canon: Canonicaliser, params: dict[str, Any], arguments: list[int], avals: list[Aval]) -> list[int] | None:
    """`copy` and `stop_gradient` return their argument. What stop_gradient does to a gradient shows where it is
    traced.
    """
    return arguments


@rule("reshard")
def reshard(canon: Canonicaliser, params: dict[str, Any], arguments: list[int], avals: list[Aval]) -> list[int] | None:
    """A reshard to a layout that names no axis of a mesh whose axes are all Auto is the identity: the values are those of
    the argument, and the compiler chooses the layout before and after. `nnx.Dropout` makes such of its masks.
    """
    return arguments if says_nothing(params.get("dst_sharding")) else None


@rule("convert_element_type")
def convert(canon: Canonicaliser, params: dict[str, Any], arguments: list[int], avals: list[Aval]) -> list[int] | None:
    """A conversion to the type that the value has is the identity.

    Conversion works on each element, so it commutes with moving elements about (reshape, broadcast, transpose): it
    is pushed
    to the inside. Two conversions are one where the first loses nothing (every value of the source type exists in the
    middle type), and only then: f32 → bf16 → f32 rounds.
    """
    if _sharded(params):
        return None
    (term,) = arguments
    (shape, dtype) = avals[0]
    node = canon.terms[term]
    assert node.aval is not None
    if node.aval[1] == dtype:
        return [term]
    if node.op in ("reshape", "broadcast", "transpose"):
        source = canon.terms[node.args[0]].aval
        assert source is not None
        inner = convert(canon, {}, [node.args[0]], [(source[0], dtype)])
        assert inner is not None
        if node.op == "reshape":
            return [reshape(canon, inner[0], shape)]
        if node.op == "broadcast":
            return [broadcast(canon, inner[0], shape, node.params)]
        return [transpose(canon, inner[0], node.params)]
    if node.op == "convert":
        first = canon.terms[node.args[0]].aval
        assert first is not None
        if _exact(first[1], node.aval[1]):
            return convert(canon, {}, [node.args[0]], avals)
    value = scalar_value(canon, term)
    if value is not None and _foldable(node.aval[1]) and _foldable(dtype):
        return [canon.constant(value.astype(np.dtype(dtype)))]
    return [canon.terms.make("convert", None, (term,), (shape, dtype))]


def _exact(source: str, target: str) -> bool:
    """Is every value of `source` one of `target`?"""
    return source == "bool" or (source, target) in {
        ("bfloat16", "float32"), ("float16", "float32"), ("bfloat16", "float64"), ("float16", "float64"),
        ("float32", "float64"),
        ("int8", "int16"), ("int8", "int32"), ("int16", "int32"), ("int32", "int64"),
        ("uint8", "int32"), ("uint8", "uint32"), ("uint16", "uint32"), ("uint32", "uint64"),
    }  # fmt: skip


def _foldable(dtype: str) -> bool:
    return dtype in ("float32", "float64", "int32", "int64", "uint32", "bool", "float16")


# movements of data ---------------------------------------------------------------------------------------------------
@rule("reshape", "squeeze")
def reshape_rule(canon: Canonicaliser, params: dict[str, Any], arguments: list[int], avals: list[Aval]) -> list[int] | None:
    """`squeeze` and `reshape` keep the elements in row-major order: both are `reshape` to their result's shape."""
    if _sharded(params) or (params.get("dimensions") is not None and len(arguments) > 1):
        return None
    return [reshape(canon, arguments[0], avals[0][0])]


def reshape(canon: Canonicaliser, term: int, shape: tuple[int, ...]) -> int:
    """Reshapes compose; one to the same shape is the identity; one that only adds or drops unit dimensions moves into
    a broadcast by renumbering dimensions; a repeated scalar stays one in any shape."""
    node = canon.terms[term]
    assert node.aval is not None
    if node.aval[0] == shape:
        return term
    if node.op == "reshape":
        return reshape(canon, node.args[0], shape)
    if node.op == "broadcast":
        if not node.params:
            return broadcast(canon, node.args[0], shape, ())
        if _same_but_units(node.aval[0], shape):
            places = [i for i, n in enumerate(shape) if n != 1]
            rank = {d: i for i, d in enumerate(d for d, n in enumerate(node.aval[0]) if n != 1)}
            dims = tuple(places[rank[d]] for d in node.params)  # type: ignore[attr-defined]
            return broadcast(canon, node.args[0], shape, dims)
    return canon.terms.make("reshape", None, (term,), (shape, node.aval[1]))


@rule("broadcast_in_dim")
def broadcast_rule(
    canon: Canonicaliser, params: dict[str, Any], arguments: list[int], avals: list[Aval]
) -> list[int] | None:
    """See `broadcast`. Broadcasts that repeat nothing only add unit dimensions: they are reshapes."""
    if _sharded(params) or len(arguments) != 1:
        return None
    return [broadcast(canon, arguments[0], avals[0][0], tuple(params["broadcast_dimensions"]))]


def broadcast(canon: Canonicaliser, term: int, shape: tuple[int, ...], dims: Any) -> int:
    """Repeat `term`, whose dimension i becomes dimension dims[i].

    Unit dimensions of the operand are dropped first, as they hold no elements of their own; broadcasts compose by
    composing
    their dimension maps; without repetition it is a reshape, as the dimension map increases.
    """
    node = canon.terms[term]
    assert node.aval is not None
    source = node.aval[0]
    if math.prod(source) == math.prod(shape):
        return reshape(canon, term, shape)
    if 1 in source:
        kept = [i for i, n in enumerate(source) if n != 1]
        term = reshape(canon, term, tuple(source[i] for i in kept))
        dims = tuple(dims[i] for i in kept)
        node = canon.terms[term]
    if node.op == "broadcast":
        dims = tuple(dims[d] for d in node.params)  # type: ignore[attr-defined]
        return broadcast(canon, node.args[0], shape, dims)
    assert node.aval is not None
    return canon.terms.make("broadcast", tuple(dims), (term,), (shape, node.aval[1]))


@rule("transpose")
def transpose_rule(
    canon: Canonicaliser, params: dict[str, Any], arguments: list[int], avals: list[Aval]
) -> list[int] | None:
    """See `transpose`."""
    return [transpose(canon, arguments[0], tuple(params["permutation"]))]


def transpose(canon: Canonicaliser, term: int, permutation: Any) -> int:
    """Transpositions compose; the identity permutation does nothing; one that keeps the order of all dimensions
    longer than
    one moves no element, so it is a reshape."""
    node = canon.terms[term]
    assert node.aval is not None
    if node.op == "transpose":
        return transpose(canon, node.args[0], tuple(node.params[p] for p in permutation))  # type: ignore[index]
    shape = tuple(node.aval[0][p] for p in permutation)
    moving = [p for p in permutation if node.aval[0][p] != 1]
    if moving == sorted(moving):
        return reshape(canon, term, shape)
    return canon.terms.make("transpose", tuple(permutation), (term,), (shape, node.aval[1]))


@rule("reduce_max", "reduce_min", "reduce_prod", "reduce_and", "reduce_or")
def reduce_units(canon: Canonicaliser, params: dict[str, Any], arguments: list[int], avals: list[Aval]) -> list[int] | None:
    """A reduction over dimensions of size one reduces single elements: it is a reshape (up to the sign of zero)."""
    node = canon.terms[arguments[0]]
    assert node.aval is not None
    if _sharded(params) or len(arguments) != 1 or any(node.aval[0][a] != 1 for a in params["axes"]):
        return None
    if node.aval[1] != avals[0][1]:
        return None
    return [reshape(canon, arguments[0], avals[0][0])]


@rule("reduce_sum")
def reduce_sum(canon: Canonicaliser, params: dict[str, Any], arguments: list[int], avals: list[Aval]) -> list[int] | None:
    """Beside `reduce_units`: the sum of negated elements is the negated sum, as rounding is symmetric about zero."""
    found = reduce_units(canon, params, arguments, avals)
    node = canon.terms[arguments[0]]
    if found is not None or node.op != "neg":
        return found
    inner = canon.opaque("reduce_sum", canon.freeze_params(params, 0), list(node.args), avals)
    return negate(canon, {}, inner, avals)


@rule("split")
def split(canon: Canonicaliser, params: dict[str, Any], arguments: list[int], avals: list[Aval]) -> list[int] | None:
    """`split` returns the consecutive slices along its axis."""
    node = canon.terms[arguments[0]]
    assert node.aval is not None
    start, results, axis = 0, [], params["axis"]
    for size, aval in zip(params["sizes"], avals):
        begin = tuple(start if i == axis else 0 for i in range(len(aval[0])))
        end = tuple(start + size if i == axis else n for i, n in enumerate(node.aval[0]))
        results.append(_slice(canon, arguments[0], begin, end, None, aval))
        start += size
    return results


@rule("slice")
def slice_rule(canon: Canonicaliser, params: dict[str, Any], arguments: list[int], avals: list[Aval]) -> list[int] | None:
    """A slice of everything is the identity; strides of one are no strides."""
    strides = params.get("strides")
    if strides is not None and all(s == 1 for s in strides):
        strides = None
    limits = (tuple(params["start_indices"]), tuple(params["limit_indices"]))
    return [_slice(canon, arguments[0], *limits, None if strides is None else tuple(strides), avals[0])]


def _slice(
    canon: Canonicaliser,
    term: int,
    start: tuple[int, ...],
    end: tuple[int, ...],
    strides: tuple[int, ...] | None,
    aval: Aval,
) -> int:
    node = canon.terms[term]
    assert node.aval is not None
    if strides is None and node.aval[0] == aval[0]:
        return term
    return canon.terms.make("slice", (start, end, strides), (term,), aval)


@rule("concatenate")
def concatenate(canon: Canonicaliser, params: dict[str, Any], arguments: list[int], avals: list[Aval]) -> list[int] | None:
    """The concatenation of one array is that array."""
    return arguments if len(arguments) == 1 else None


# arithmetic ----------------------------------------------------------------------------------------------------------
_FLIPPED = {"gt": "lt", "ge": "le"}
_FOLDED = {"add": np.add, "sub": np.subtract, "mul": np.multiply}


def _binary(name: str) -> Rule:
    def apply(canon: Canonicaliser, params: dict[str, Any], arguments: list[int], avals: list[Aval]) -> list[int] | None:
        """Elementwise operations of two operands.

        * `add_any` (sums of cotangents) is `add`; a > b is b < a; a - b is a + (-b), exact in IEEE and modular
          arithmetic.
        * add, mul, max, min, and, or, xor, eq, ne are commutative to the bit, so their operands are sorted.
        * An operand that repeats one scalar is written as that scalar, as every element meets the same value.
        * Multiplying by one, or dividing by it, is the identity.
        * The sign of a factor or divisor is the sign of the result: negations move out of mul and div, as rounding is
          symmetric about zero.
        * add, sub and mul of two constants of one float32, float64 or integer type are computed here: correctly
          rounded, they have one result.
        """
        op, (left, right) = name, arguments
        if params and any(v is not None for v in params.values()):
            return None
        if op == "add_any":
            op = "add"
        if op in _FLIPPED:
            op, left, right = _FLIPPED[op], right, left
        shape, dtype = avals[0]
        left, right = _scalar(canon, left), _scalar(canon, right)
        a, b = scalar_value(canon, left), scalar_value(canon, right)
        if op in _FOLDED and a is not None and b is not None and a.dtype == b.dtype and str(a.dtype) == dtype:
            if a.dtype in (np.float32, np.float64, np.int32):
                with np.errstate(all="ignore"):
                    folded = canon.constant(np.asarray(_FOLDED[op](a, b), a.dtype))
                return [broadcast(canon, folded, shape, ())]
        for one, other, value in ((left, right, b), (right, left, a)):
            if value is not None and value == 1 and (op == "mul" or (op == "div" and other == right)):
                node = canon.terms[one]
                assert node.aval is not None
                if node.aval[1] == dtype:
                    dims = range(len(node.aval[0]))  # none, or as many as the result, of which some are 1 in the operand
                    return [one if node.aval[0] == shape else broadcast(canon, one, shape, tuple(dims))]
        if op in ("mul", "div") and str(dtype) in ("float32", "float64", "bfloat16", "float16"):
            signs = [canon.terms[t].op == "neg" for t in (left, right)]
            if any(signs):
                bare = [canon.terms[t].args[0] if sign else t for t, sign in zip((left, right), signs)]
                product = RULES[op](canon, {}, bare, avals)
                assert product is not None
                return product if all(signs) else RULES["neg"](canon, {}, product, avals)
        if op == "sub":
            minus = RULES["neg"](canon, {}, [right], [canon.terms[right].aval])  # type: ignore[list-item]
            assert minus is not None
            op, right = "add", minus[0]
        shapes = {canon.terms[t].aval[0] for t in (left, right)}  # type: ignore[index]
        result = () if shapes == {()} else shape
        made = canon.opaque(op, None, [left, right], [(result, dtype)])
        return [broadcast(canon, made[0], shape, ())] if result != shape else made

    return apply


for _name in (
    "add",
    "add_any",
    "mul",
    "sub",
    "div",
    "max",
    "min",
    "pow",
    "rem",
    "and",
    "or",
    "xor",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
):
    RULES[_name] = _binary(_name)


@rule("neg")
def negate(canon: Canonicaliser, params: dict[str, Any], arguments: list[int], avals: list[Aval]) -> list[int] | None:
    """Negation undoes itself; the negation of a constant is a constant. As it works on each element, it moves into reshapes,
    broadcasts and transpositions."""
    node = canon.terms[arguments[0]]
    if node.op in ("reshape", "broadcast", "transpose"):
        source = canon.terms[node.args[0]].aval
        assert source is not None
        made = negate(canon, {}, [node.args[0]], [source])
        assert made is not None and node.aval is not None
        if node.op == "reshape":
            return [reshape(canon, made[0], node.aval[0])]
        if node.op == "broadcast":
            return [broadcast(canon, made[0], node.aval[0], node.params)]
        return [transpose(canon, made[0], node.params)]
    if node.op == "neg":
        return [node.args[0]]
    value = scalar_value(canon, arguments[0])
    if value is not None and value.dtype in (np.float32, np.float64, np.int32):
        return [canon.constant(np.negative(value))]
    return canon.opaque("neg", None, arguments, avals)


@rule("integer_pow", "square")
def power(canon: Canonicaliser, params: dict[str, Any], arguments: list[int], avals: list[Aval]) -> list[int] | None:
    """`square` and the second power are x * x: XLA computes both so. The first power is x. Higher ones stay as they
    are.
    """
    exponent = params.get("y", 2)
    if exponent == 2:
        return canon.opaque("mul", None, [arguments[0], arguments[0]], avals)
    return arguments if exponent == 1 else None


@rule("dot_general")
def dot_general(canon: Canonicaliser, params: dict[str, Any], arguments: list[int], avals: list[Aval]) -> list[int] | None:
    """`preferred_element_type` says the result's type, which is part of every term: saying it twice adds nothing
    where it is
    also what both operands have. Precision, algorithm and dimension numbers are kept."""
    left, right = (canon.terms[a].aval for a in arguments)
    assert left is not None and right is not None
    preferred = params.get("preferred_element_type")
    if preferred is None or str(np.dtype(preferred)) != avals[0][1] or not left[1] == right[1] == avals[0][1]:
        return None
    return canon.opaque("dot_general", canon.freeze_params({**params, "preferred_element_type": None}, 0), arguments, avals)


@rule("select_n")
def select(canon: Canonicaliser, params: dict[str, Any], arguments: list[int], avals: list[Aval]) -> list[int] | None:
    """A choice between equal cases is that case."""
    cases = set(arguments[1:])
    return [arguments[1]] if len(cases) == 1 and len(arguments) > 2 else None


def scalar_value(canon: Canonicaliser, term: int) -> Any:
    """The value of a constant scalar term, None for others."""
    node = canon.terms[term]
    if node.op != "constant" or node.aval is None or node.aval[0] != ():
        return None
    dtype, shape, data = node.params if isinstance(node.params, tuple) and len(node.params) == 3 else ("", (), b"")
    try:
        return np.frombuffer(data, np.dtype(dtype)).reshape(shape)[()]
    except (TypeError, ValueError):
        return None


def _scalar(canon: Canonicaliser, term: int) -> int:
    """The scalar that `term` repeats, else `term`."""
    node = canon.terms[term]
    if node.op == "broadcast" and node.params == ():
        return node.args[0]
    return term


def _same_but_units(one: Sequence[int], other: Sequence[int]) -> bool:
    return [n for n in one if n != 1] == [n for n in other if n != 1]
