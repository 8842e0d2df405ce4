"""Python's operators, built-in functions and `math` over abstract values."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Sequence

from ..values.dims import Dim, evaluate
from ..values.values import (
    OPAQUE,
    Array,
    Axes,
    Const,
    Global,
    Int,
    NeedsRank,
    Real,
    Shape,
    ShapeOf,
    Slice,
    SomeNumber,
    Star,
    Tup,
    Unknown,
    Value,
)  # fmt: skip
from .shape_args import NONE, is_number, join
from .shape_ops import Stop, broadcast, matmul, stop

MAX_ITEMS = 4096  # of a tuple that is made by repetition or by range

# Operators as text, also under the names that `ast` gives them.
_AST_NAMES = {
    "Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "FloorDiv": "//", "Mod": "%", "Pow": "**", "MatMult": "@",
    "LShift": "<<", "RShift": ">>", "BitOr": "|", "BitXor": "^", "BitAnd": "&",
    "Eq": "==", "NotEq": "!=", "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=", "Is": "is", "IsNot": "is not",
    "In": "in", "NotIn": "not in", "UAdd": "+", "USub": "-", "Not": "not", "Invert": "~",
}  # fmt: skip
_PYTHON: dict[str, Callable[..., object]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "<<": operator.lshift, ">>": operator.rshift, "|": operator.or_, "^": operator.xor,
    "&": operator.and_, "**": operator.pow,
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def from_python(value: object) -> Value:
    """A Python constant as a value."""
    if isinstance(value, int) and not isinstance(value, bool):
        return Int(Dim.of(value))
    if isinstance(value, tuple | list):
        return Tup(tuple(from_python(v) for v in value), "list" if isinstance(value, list) else "tuple")
    return Const(value)


def to_python(value: Value) -> object:
    """The Python constant that a value is. Raises Stop for anything symbolic."""
    if isinstance(value, Const):
        return value.value
    if isinstance(value, Int) and value.dim.value is not None:
        return value.dim.value
    if isinstance(value, Tup):
        items = [to_python(item) for item in value.items]
        return items if value.kind == "list" else tuple(items)
    raise value_stop(value, "not a constant")


def value_stop(value: Value, why: str) -> Stop:
    return Stop(value) if isinstance(value, Unknown) else stop(why)


# numbers -------------------------------------------------------------------------------------------------------


def _template(value: Value) -> tuple[str, tuple[Dim, ...]]:
    if isinstance(value, Real):
        return value.template, value.dims
    if isinstance(value, Int):
        return "{0}", (value.dim,)
    if isinstance(value, Const) and isinstance(value.value, bool | float):
        text = repr(value.value)
        return (f"({text})" if text.startswith("-") else text), ()
    raise stop("not a real number")


def _renumbered(template: str, base: int) -> str:
    return re.sub(r"\{(\d+)\}", lambda m: f"{{{int(m[1]) + base}}}", template)


def real(template: str, *values: Value) -> Value:
    """The number that `template` gives, its {0}, {1} ... being numbers: a constant where they are all known."""
    dims: list[Dim] = []
    parts: list[str] = []
    for value in values:
        text, own = _template(value)
        parts.append(_renumbered(text, len(dims)))
        dims += own
    text = re.sub(r"\{(\d+)\}", lambda m: parts[int(m[1])], template)
    number = evaluate(text, dims)
    return Real(text, tuple(dims)) if number is None else from_python(number)


def to_int(value: Value, function: str = "int") -> Value:
    """int(value), round(value), math.floor(value) or math.ceil(value). Raises Stop."""
    if isinstance(value, Int):
        return value
    if isinstance(value, Const) and isinstance(value.value, int | float | str):
        functions: dict[str, Callable[..., int]] = {
            "int": int,
            "round": round,
            "math.floor": math.floor,
            "math.ceil": math.ceil,
        }
        try:
            return Int(Dim.of(functions[function](value.value)))
        except (ValueError, TypeError, OverflowError) as error:
            raise stop(f"{function} of {value.value!r}") from error
    if isinstance(value, Real):
        quotient = re.fullmatch(r"\(\{0\} / \{1\}\)", value.template)
        if quotient and function in ("int", "math.floor", "math.ceil"):
            above, below = value.dims  # sizes are far below 2**53, so that the float quotient rounds the same way
            if function == "math.ceil":
                return Int(above.ceil_div(below))
            if (above.lower_bound() or -1) >= 0 or above.lower_bound() == 0:
                return Int(above // below)
        inner = value.template
        if inner.startswith("(") and inner.endswith(")") and _closes_at_end(inner):
            inner = inner[1:-1]
        return Int(Dim.expr(f"{function}({inner})", *value.dims))
    raise value_stop(value, f"{function} of an array or of something that is not a number")


def _closes_at_end(text: str) -> bool:
    depth = 0
    for index, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return index == len(text) - 1
    return False


def _int_op(op: str, a: Dim, b: Dim) -> Value:
    if op == "+":
        return Int(a + b)
    if op == "-":
        return Int(a - b)
    if op == "*":
        return Int(a * b)
    if op in ("//", "%"):
        if b.value == 0:
            raise stop("division by zero")
        if b.value is not None and b.value < 0 and a.value is None:
            raise stop("division by a negative number")
        return Int(a // b if op == "//" else a % b)
    if op == "/":
        return real("({0} / {1})", Int(a), Int(b))
    if op == "**":
        return _power(a, b)
    if a.value is not None and b.value is not None and (op != "<<" or 0 <= b.value < 64):
        return from_python(_PYTHON[op](a.value, b.value))
    raise stop(f"`{op}` of sizes that are not constants")


def _power(a: Dim, b: Dim) -> Value:
    exponent = b.value
    if exponent is not None and 0 <= exponent <= 8:
        total = Dim.of(1)
        for _ in range(exponent):
            total = total * a
        return Int(total)
    if a.value is not None and exponent is not None and abs(exponent) <= 64:
        return from_python(a.value**exponent)
    if exponent is None and (b.lower_bound() or 0) >= 0 and b.lower_bound() is not None:
        return Int(Dim.expr("{0} ** {1}", a, b))
    return real("({0} ** {1})", Int(a), Int(b))


# operators -----------------------------------------------------------------------------------------------------


_NUMERIC = frozenset({"+", "-", "*", "/", "//", "%", "**"})


def binary(op: str, a: Value, b: Value) -> Value:
    """`a op b`. Raises Stop."""
    op = _AST_NAMES.get(op, op)
    a, b = _plain(a), _plain(b)
    if any(isinstance(v, SomeNumber) for v in (a, b)) and all(isinstance(v, Array | Int | SomeNumber) for v in (a, b)):
        arrays = [v for v in (a, b) if isinstance(v, Array)]
        if arrays and op in _NUMERIC:
            return Array(arrays[0].shape)
        return SomeNumber("loop variable") if op in _NUMERIC and op not in ("/", "**") else OPAQUE
    for value in (a, b):
        if isinstance(value, Unknown):
            raise Stop(value)
    if isinstance(a, Array) or isinstance(b, Array):
        shapes = [_operand_shape(a), _operand_shape(b)]
        if op == "@":
            return Array(matmul(*shapes))
        both = all(isinstance(v, Array) and v.boolean for v in (a, b))
        return Array(broadcast(*shapes), boolean=both and op in ("&", "|", "^"))
    if isinstance(a, Int) and isinstance(b, Int):
        return _int_op(op, a.dim, b.dim)
    if is_number(a) and is_number(b):
        if isinstance(a, Const) and isinstance(b, Const):
            return _constants(op, a.value, b.value)
        if op in _NUMERIC:
            return real(f"({{0}} {op} {{1}})", a, b)
        raise stop(f"`{op}` of floats")
    if "array" in (getattr(a, "kind", ""), getattr(b, "kind", "")):
        raise stop(f"`{op}` of numpy's arrays of numbers")
    if isinstance(a, Tup | ShapeOf) and isinstance(b, Tup | ShapeOf) and op == "+":
        return join([Star(a), Star(b)], a.kind)
    if isinstance(a, Axes) and isinstance(b, Tup) and op == "+":
        return join([Star(a), Star(b)])
    if op == "*" and isinstance(a, Int) and isinstance(b, Tup | ShapeOf):
        a, b = b, a
    if op == "*" and isinstance(a, Tup) and isinstance(b, Int):
        return repeated(a, b.dim)
    if isinstance(a, Const) and isinstance(a.value, str) and isinstance(b, Const | Int | Tup):
        return _constants(op, a.value, to_python(b))
    raise stop(f"`{op}` of {type(a).__name__} and {type(b).__name__}")


def _plain(value: Value) -> Value:
    """True and False take part in arithmetic as 1 and 0."""
    if isinstance(value, Const) and isinstance(value.value, bool):
        return Int(Dim.of(int(value.value)))
    return value


def _operand_shape(value: Value) -> Shape:
    if isinstance(value, Array):
        return value.shape
    if is_number(value):
        return Shape(())
    raise value_stop(value, f"an array with {type(value).__name__}")


def _constants(op: str, a: object, b: object) -> Value:
    if op not in _PYTHON or (op == "*" and isinstance(b, int) and b > MAX_ITEMS) or (op in ("**", "<<")):
        raise stop(f"`{op}` of constants")
    try:
        return from_python(_PYTHON[op](a, b))
    except (TypeError, ValueError, ArithmeticError) as error:
        raise stop(f"`{op}` of {a!r} and {b!r}") from error


def repeated(value: Tup, times: Dim) -> Value:
    """`(1,) * n`"""
    count = times.value
    if count is None:
        ranks = tuple(sorted({atom.args[0] for atom in times.atoms() if atom.kind == "rank"}))
        if ranks:
            raise Stop(NeedsRank(f"a tuple of length `{times}`: needs the number of dimensions", ranks))
        raise stop(f"a tuple of length `{times}`")
    if len(value.items) * max(count, 0) > MAX_ITEMS:
        raise stop("a very long tuple")
    return Tup(value.items * max(count, 0), value.kind)


def unary(op: str, a: Value) -> Value:
    """`-a`, `+a`, `not a`, `~a`. Raises Stop."""
    op = _AST_NAMES.get(op, op)
    if op == "not":
        known = truth(a)
        if known is None:
            raise value_stop(a, "not known to be true or false")
        return Const(not known)
    if isinstance(a, Array):
        return a
    a = _plain(a)
    if isinstance(a, Int):
        if op == "~":
            return Int(-a.dim - 1)
        return Int(-a.dim) if op == "-" else a
    if isinstance(a, Real | Const) and is_number(a):
        if op == "+":
            return a
        if op == "-":
            return real("(-{0})", a)
    raise value_stop(a, f"`{op}` of {type(a).__name__}")


def truth(value: Value) -> bool | None:
    """bool(value) where it is certain."""
    if isinstance(value, Const):
        return bool(value.value)
    if isinstance(value, Int):
        if value.dim.value is not None:
            return value.dim.value != 0
        return True if (value.dim.lower_bound(fields=False) or 0) > 0 else None
    if isinstance(value, Tup):
        return bool(value.items)
    if isinstance(value, ShapeOf) and value.shape.dims:
        return True
    return None


# comparisons ---------------------------------------------------------------------------------------------------


def compare(op: str, a: Value, b: Value) -> Value:
    """`a op b`: a constant only where it is certain. Raises Stop."""
    op = _AST_NAMES.get(op, op)
    if op in ("in", "not in"):
        found = _contains(b, a)
        if found is None:
            raise value_stop(a if isinstance(a, Unknown) else b, "membership is not known")
        return Const(found == (op == "in"))
    if op in ("is", "is not"):
        same = _identical(a, b)
        if same is None:
            raise value_stop(a if isinstance(a, Unknown) else b, "identity is not known")
        return Const(same == (op == "is"))
    for value in (a, b):
        if isinstance(value, Unknown):
            raise Stop(value)
    if isinstance(a, Array) or isinstance(b, Array):
        if NONE in (a, b) and op in ("==", "!="):
            return Const(op == "!=")
        return Array(broadcast(_operand_shape(a), _operand_shape(b)), boolean=True)
    if op in ("==", "!="):
        equal = equality(a, b)
        if equal is None:
            raise stop("equality is not known")
        return Const(equal == (op == "=="))
    result = _ordering(op, _plain(a), _plain(b))
    if result is None:
        raise stop("the order is not known")
    return Const(result)


def equality(a: Value, b: Value) -> bool | None:
    """Whether `a == b`, where it is certain."""
    a, b = _plain(a), _plain(b)
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        return None
    if isinstance(a, Int) and isinstance(b, Int):
        if a.dim == b.dim:
            return True
        return False if _never_zero(a.dim - b.dim) else None
    if isinstance(a, Const) and isinstance(b, Const):
        return bool(a.value == b.value)
    if isinstance(a, Tup) and isinstance(b, Tup):
        if a.kind != b.kind or len(a.items) != len(b.items):
            return False
        return _all([equality(x, y) for x, y in zip(a.items, b.items)])
    if isinstance(a, Tup | ShapeOf) and isinstance(b, Tup | ShapeOf):
        return _shapes_equal(a, b)
    if isinstance(a, Global) and isinstance(b, Global):
        return True if a.name == b.name else None
    if isinstance(a, Real) or isinstance(b, Real) or isinstance(a, Global) or isinstance(b, Global):
        if NONE in (a, b) or any(isinstance(v, Const) and isinstance(v.value, str) for v in (a, b)):
            return False if isinstance(a, Real) or isinstance(b, Real) or NONE in (a, b) else None
        return None
    if is_number(a) and is_number(b):
        return None if isinstance(a, Int) and a.dim.value is None else _number_equality(a, b)
    known = (Int, Const, Tup, ShapeOf, Array)
    return False if isinstance(a, known) and isinstance(b, known) and type(a) is not type(b) else None


def _number_equality(a: Value, b: Value) -> bool | None:
    try:
        return bool(to_python(a) == to_python(b))
    except Stop:
        return None


def _never_zero(difference: Dim) -> bool:
    for side in (difference, -difference):
        low = side.lower_bound(fields=False)
        if low is not None and low > 0:
            return True
    return False


def _all(answers: Sequence[bool | None]) -> bool | None:
    if False in answers:
        return False
    return None if None in answers else True


def _shapes_equal(a: Tup | ShapeOf, b: Tup | ShapeOf) -> bool | None:
    """Two shapes, one at least of unknown length."""
    if a.kind != b.kind:
        return False
    shapes = []
    for value in (a, b):
        if isinstance(value, ShapeOf):
            shapes.append(value.shape)
        elif all(isinstance(item, Int | Unknown) for item in value.items):
            shapes.append(Shape(tuple(item.dim if isinstance(item, Int) else None for item in value.items)))
        else:
            return None
    if shapes[0].same(shapes[1]):
        return True
    count = min(len(shapes[0].dims), len(shapes[1].dims))
    for index in range(-count, 0):
        x, y = shapes[0].dims[index], shapes[1].dims[index]
        if x is not None and y is not None and _never_zero(x - y):
            return False
    return None


def _ordering(op: str, a: Value, b: Value) -> bool | None:
    if isinstance(a, Int) and isinstance(b, Int):
        if op in (">", ">="):
            return _less(b.dim, a.dim, strict=op == ">")
        return _less(a.dim, b.dim, strict=op == "<")
    if isinstance(a, Const | Int) and isinstance(b, Const | Int):
        try:
            return bool(_PYTHON[op](to_python(a), to_python(b)))
        except (Stop, TypeError):
            return None
    return None


def _less(a: Dim, b: Dim, *, strict: bool) -> bool | None:
    low = (b - a).lower_bound(fields=False)
    if low is not None and low >= (1 if strict else 0):
        return True
    low = (a - b).lower_bound(fields=False)
    if low is not None and low >= (0 if strict else 1):
        return False
    return None


def _identical(a: Value, b: Value) -> bool | None:
    """`a is b` for None, True, False and Ellipsis."""
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        return None
    if isinstance(a, Const) and isinstance(b, Const):
        singletons = (None, True, False, ...)
        if any(a.value is s for s in singletons) or any(b.value is s for s in singletons):
            return a.value is b.value
        return None
    if isinstance(a, Global) and isinstance(b, Global):
        return True if a.name == b.name else None
    if NONE in (a, b):
        other = b if a == NONE else a
        # A global name may well be bound to None; everything else that is known is not None.
        return None if isinstance(other, Global) or type(other) is Value else _not_none(other)
    return None


def _not_none(value: Value) -> bool | None:
    return False if isinstance(value, Array | Int | Real | Tup | ShapeOf | Slice) else None


def _contains(container: Value, item: Value) -> bool | None:
    if isinstance(container, Tup):
        answers = [equality(item, member) for member in container.items]
        if True in answers:
            return True
        return None if None in answers else False
    if isinstance(container, Const) and isinstance(container.value, str):
        if isinstance(item, Const) and isinstance(item.value, str):
            return item.value in container.value
    return None
