"""Values that the constructor knows as text only: which of them are numbers, and which may be arrays."""

from __future__ import annotations

import ast
import functools
from collections.abc import Sequence, Set
from typing import Any

from ...catalog import shape_table as table
from ...trees import subtree
from ..project.classes import Field
from ..shapes import one_or_more
from .arguments import Arguments
from .sites import Static
from .values import Array, Const, Int, Real, Shape, Unknown, Value

# Functions that give a number for numbers, and those that give one whatever they are given.
_POINTWISE = frozenset({
    "sqrt", "rsqrt", "log", "log2", "log10", "log1p", "exp", "exp2", "expm1", "sin", "cos", "tan", "tanh", "abs", "fabs",
    "power", "pow", "maximum", "minimum", "floor", "ceil", "square", "asarray", "array", "float32", "float16", "bfloat16",
    "float64", "int32", "int64", "float", "int", "round", "bool", "sigmoid", "softplus", "reciprocal", "clip", "degrees",
    "radians", "sign", "negative", "add", "subtract", "multiply", "divide", "floor_divide", "absolute", "gcd", "lcm",
})  # fmt: skip
_NUMBERS = frozenset(
    {"len", "sum", "prod", "mean", "max", "min", "amax", "amin", "std", "var", "ndim", "size", "any", "all"}
)
# Those of numpy of which a whole number comes out as one, which may then be a size.
_COUNTS = frozenset({"clip", "maximum", "minimum", "abs", "absolute", "floor_divide", "power", "gcd", "lcm"})
_ARRAYS = frozenset({
    "Array", "ndarray", "ArrayLike", "Sequence", "Tuple", "List", "tuple", "list", "Iterable", "array", "DeviceArray",
    "NDArray", "ArrayTree", "Callable",
})  # fmt: skip
_ANYTHING = frozenset({"Any", "object", "TypeVar"})
_CONSTANTS = frozenset({"pi", "e", "inf", "nan", "euler_gamma", "eps", "tau", "size", "ndim"})  # of modules and arrays
# What broadcasts its arguments, and what does so with the whole of them: a vector is no number to these.
_BROADCASTING = frozenset(f"{table.NUMPY_BINARY} {table.LAX_BINARY} where select_n clip clamp xlogy xlog1py".split())
_OF_WHOLE = frozenset(
    {"dot", "inner", "kron", "cross", "meshgrid", "atleast_1d", "atleast_2d", "diag", "take", "outer"}
    | {"cumsum", "cumprod", "sort", "argsort", "convolve", "interp"}
)


def widened(run: Any, array: Array, other: Value) -> Array:
    """An array after an operation with a value known as text: where that may be an array, sizes of 1 may have grown."""
    shape = array.shape if array.shape.dims else array.shape.expand(1)  # `t[:, None]` is one wide where t is a vector
    grown = tuple(None if d is not None and one_or_more.may_be_one(run, d) else d for d in shape.dims)
    if (shape.rank != 0 and grown == shape.dims) or not is_doubtful(run, other):
        return array
    if shape.rank == 0:
        return Array(Shape.unknown())
    column = next((d for d in shape.dims if d is not None and one_or_more.of_vector(run, d)), None)
    return Array(Shape(grown, shape.lead)) if column is None else one_or_more.beside_unknown(run, column)


def is_doubtful(run: Any, value: Value) -> bool:
    """May a value that is known as text, or computed from one (`2 * lib.table(self.size)`), be an array?"""
    if isinstance(value, Static):
        return value.sequence or not is_number(run, value.text, value.deps)
    dims = (value.dim,) if isinstance(value, Int) else value.dims if isinstance(value, Real) else ()
    said = {atom for dim in dims for atom in dim.atoms() if atom.kind in ("opaque", "field")}
    return any(not is_number(run, *_text_of(atom)) for atom in said)


def _text_of(atom: Any) -> tuple[str, Set[str]]:
    return (f"self.{atom.args[0]}" if atom.kind == "field" else str(atom.args[0])), atom.deps


def whole_arguments(run: Any, qualname: str, arguments: Arguments) -> tuple[list[Value], dict[str, Value]]:
    """Arguments as the shape functions take them; unknown where they would take what may be an array for a number."""
    args, keywords = arguments.values(run)
    if qualname.rpartition(".")[2] in _OF_WHOLE:
        unknown = Unknown("an array or a number")
        args = [unknown if is_doubtful(run, raw.value) else a for a, (_, raw) in zip(args, arguments.positional)]
        keywords |= {k: unknown for k, _, raw in arguments.keywords if k in keywords and is_doubtful(run, raw.value)}
    return args, keywords


def beside_text(run: Any, qualname: str, arguments: Arguments, found: Value) -> Value:
    """What a library's function gives, where some of its arguments are known as text and were taken for numbers."""
    package, _, name = qualname.rpartition(".")
    if not isinstance(found, Array) or not package.startswith(("jax", "numpy", "scipy", "flax.linen")):
        return found
    given = [a.value for _, a in arguments.positional] + [a.value for _, _, a in arguments.keywords]
    said = [value for value in given if is_doubtful(run, value)]
    if not said or name in _NUMBERS:
        return found
    if found.shape.rank == 0:
        return Unknown("an array or a number") if arguments.static else Array(Shape.unknown())
    if name in _BROADCASTING:
        for value in said:
            found = widened(run, found, value)
    return found


def gives_count(run: Any, qualname: str, arguments: Sequence[Value]) -> bool:
    """`np.clip(self.width // 2, 1, 16)`: is it a size, as numpy gives it for numbers of the constructor's?"""
    package, _, name = qualname.rpartition(".")
    numbers = (
        isinstance(a, Int | Const) or (type(a) is Static and not a.sequence and is_number(run, a.text, a.deps))
        for a in arguments
    )
    return package == "numpy" and name in _COUNTS and all(numbers)


def is_number(run: Any, text: str, local: Set[str] = frozenset()) -> bool:
    """Is it a number as far as its text tells? Fields are, unless they are annotated as something that has items."""
    try:
        return _is_number(run, _parsed(text), {"self"} | local | run.model.bound_names)
    except SyntaxError:
        return True  # a mark of the analysis itself: a loop's variable


@functools.lru_cache(maxsize=4096)
def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _is_number(run: Any, node: ast.expr, local: Set[str]) -> bool:
    def numbers(*nodes: ast.expr) -> bool:
        return all(_is_number(run, n, local) for n in nodes)

    if isinstance(node, ast.Name):
        return node.id in local  # what no constant is found for: `TABLE = lib.load()`
    if isinstance(node, ast.Attribute):
        field = run.fields.get(node.attr) if isinstance(node.value, ast.Name) and node.value.id == "self" else None
        return _is_numeric(field) if field is not None else node.attr in _CONSTANTS or _is_local(node.value, local)
    if isinstance(node, ast.BinOp):
        return numbers(node.left, node.right)
    if isinstance(node, ast.UnaryOp):
        return numbers(node.operand)
    if isinstance(node, ast.IfExp):
        return numbers(node.body, node.orelse)
    if isinstance(node, ast.Subscript):
        if any(isinstance(n, ast.Slice) or (isinstance(n, ast.Constant) and n.value is None) for n in subtree(node.slice)):
            return False
        shape = isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
        return shape or isinstance(node.value, ast.List | ast.Tuple) or _is_local(node.value, local)
    if isinstance(node, ast.Call):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called in _NUMBERS:  # along no axis
            return isinstance(node.func, ast.Name) or (len(node.args) <= 1 and not node.keywords)
        return called in _POINTWISE and numbers(*node.args)
    return not isinstance(node, ast.List | ast.Tuple | ast.ListComp | ast.GeneratorExp | ast.Starred)


def _is_local(node: ast.expr, local: Set[str]) -> bool:
    """Is it a part of a field or of a local value: `self.config.rates`?"""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return isinstance(node, ast.Name) and node.id in local


def _is_numeric(field: Field) -> bool:
    named = field.kinds
    if named is None:
        return True
    if named & _ANYTHING:
        default = field.default
        return isinstance(default, ast.Constant) and isinstance(default.value, int | float)
    return bool(named) and not named & _ARRAYS


__all__ = ["beside_text", "gives_count", "is_doubtful", "is_number", "whole_arguments", "widened"]
