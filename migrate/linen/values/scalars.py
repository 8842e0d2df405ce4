"""Values that the constructor knows as text only: which of them are numbers, and which may be arrays."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from ...trees import subtree
from ..shapes import one_or_more
from .sites import Static
from .values import Array, Const, Int, Shape, Value

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
_ARRAYS = frozenset({"Array", "ndarray", "ArrayLike", "Sequence", "Tuple", "List", "tuple", "list", "Iterable"})


def widened(run: Any, array: Array, other: Static) -> Array:
    """An array after an operation with a value known as text: where that may be an array, sizes of 1 may have grown."""
    shape = array.shape if array.shape.dims else array.shape.expand(1)  # `t[:, None]` is one wide where t is a vector
    grown = tuple(None if d is not None and one_or_more.may_be_one(run, d) else d for d in shape.dims)
    if grown == shape.dims or is_number(run, other.text):
        return array
    column = next((d for d in shape.dims if d is not None and one_or_more.of_vector(run, d)), None)
    return Array(Shape(grown, shape.lead)) if column is None else one_or_more.beside_unknown(run, column)


def gives_count(run: Any, qualname: str, arguments: Sequence[Value]) -> bool:
    """`np.clip(self.width // 2, 1, 16)`: is it a size, as numpy gives it for numbers of the constructor's?"""
    package, _, name = qualname.rpartition(".")
    numbers = (
        isinstance(a, Int | Const) or (type(a) is Static and not a.sequence and is_number(run, a.text)) for a in arguments
    )
    return package == "numpy" and name in _COUNTS and all(numbers)


def is_number(run: Any, text: str) -> bool:
    """Is it a number as far as its text tells? Fields are, unless they are annotated as something that has items."""
    try:
        return _is_number(run, ast.parse(text, mode="eval").body)
    except SyntaxError:
        return True  # a mark of the analysis itself: a loop's variable


def _is_number(run: Any, node: ast.expr) -> bool:
    if isinstance(node, ast.Attribute):
        field = run.fields.get(node.attr) if isinstance(node.value, ast.Name) and node.value.id == "self" else None
        if field is None or field.annotation is None:
            return True
        named = {n.id for n in subtree(field.annotation) if isinstance(n, ast.Name)}
        named |= {n.attr for n in subtree(field.annotation) if isinstance(n, ast.Attribute)}
        return not named & _ARRAYS
    if isinstance(node, ast.BinOp):
        return _is_number(run, node.left) and _is_number(run, node.right)
    if isinstance(node, ast.UnaryOp):
        return _is_number(run, node.operand)
    if isinstance(node, ast.IfExp):
        return _is_number(run, node.body) and _is_number(run, node.orelse)
    if isinstance(node, ast.Subscript):
        return not any(isinstance(n, ast.Slice) or (isinstance(n, ast.Constant) and n.value is None)
                       for n in subtree(node.slice))  # fmt: skip
    if isinstance(node, ast.Call):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called in _NUMBERS:
            return True
        return called in _POINTWISE and all(_is_number(run, a) for a in node.args)
    return not isinstance(node, ast.List | ast.Tuple | ast.ListComp | ast.GeneratorExp | ast.Starred)


__all__ = ["is_number", "widened"]
