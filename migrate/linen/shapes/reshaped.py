"""Reshapes of arrays, or to sizes, that are not all known: what is written of the new shape is known of it."""

from __future__ import annotations

import ast
import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

from ..values.dims import Dim
from ..values.values import Array, Int, Lead, NeedsRank, Shape, ShapeOf, Star, Tup, Unknown, Value
from .shape_ops import behind_argument


def reshaped_width(args: Sequence[Value], found: Value) -> Value:
    """The result of a reshape to `args`, the sizes or a tuple of them, where it is not known as `found`."""
    items = tuple(args[0].items) if len(args) == 1 and isinstance(args[0], Tup) else tuple(args)
    written = len(items) > 1 or (len(args) == 1 and isinstance(args[0], Tup))
    # With the ranks of some inputs the whole result may be known; they are not asked for where the width is written.
    width = items[-1] if items else None
    asked = Unknown if isinstance(width, Int) and width.dim.value != -1 else ()
    if written and items and all(isinstance(i, Int) or type(i) is Unknown or isinstance(i, asked) for i in items):
        dims = tuple(i.dim if isinstance(i, Int) and i.dim.value != -1 else None for i in items)
        if any(d is not None for d in dims):
            return Array(Shape(dims))
    last = args[-1] if args else None
    if isinstance(last, Tup) and last.items:
        last = last.items[-1]
    if isinstance(last, Star):
        return found
    if isinstance(last, ShapeOf):
        dim = last.shape.dim(-1)
        last = Int(dim) if dim is not None else None
    if isinstance(last, Int) and last.dim.value != -1:
        needs = found.arguments if isinstance(found, NeedsRank) else ()
        return Array(Shape((last.dim,), Lead.unknown(*needs)))
    return found


def is_loose(value: Value) -> bool:
    """Is the last dimension of a result not known?"""
    return isinstance(value, Unknown) or (isinstance(value, Array) and value.shape.dim(-1) is None)


def like(run: Any, array: Array, node: ast.expr, env: Any) -> Callable[[ast.expr], bool]:
    """Has an expression the first dimensions of an array, which is `node`: `h`, of `nn.relu(h).reshape(h.shape[0], -1)`?"""
    lead = array.shape.fold().lead

    def is_like(other: ast.expr) -> bool:
        if ast.unparse(other) == ast.unparse(node):
            return True
        value = run.evaluate(other, env).value if isinstance(other, ast.Name | ast.Attribute) else None
        own = value.shape.fold().lead if isinstance(value, Array) else None
        if lead is None or own is None or lead.head or own.head or lead.skipped or own.skipped:
            return False
        return lead.known and lead.argument == own.argument

    return is_like


def joined_rest(array: Array, is_own: Callable[[ast.expr], bool], sizes: Sequence[ast.expr]) -> Array | None:
    """`x.reshape(x.shape[:2] + (-1,))`, `x.reshape(*x.shape[:2], -1)`: the dimensions after those become one, whatever the
    first ones are; None for another reshape. `is_own`: has an expression the first dimensions of the array?"""
    first = _own_first(is_own, sizes)
    shape = array.shape
    if first is not None and first > 0 and shape.rank is None:
        return _joined_behind(shape.fold(), first)
    if first is None or first < 0 or shape.rank is None or not first < shape.rank:
        return None
    rest = [d for d in shape.dims[first:] if d is not None]
    if len(rest) < shape.rank - first:
        return None
    return Array(Shape((*shape.dims[:first], functools.reduce(operator.mul, rest, Dim.of(1)))))


def _joined_behind(shape: Shape, first: int) -> Array | None:
    """The same of a shape that begins with the dimensions of an argument of unknown rank, the first of which are kept."""
    lead, behind = shape.lead, behind_argument(shape)
    if lead is None or behind is None or not shape.dims:
        return None
    kept = [Dim.input(lead.argument, index) for index in range(first)]
    return Array(Shape((*kept, Dim.atom("lead", lead.argument, lead.dropped, first) * behind)))


def _own_first(is_own: Callable[[ast.expr], bool], sizes: Sequence[ast.expr]) -> int | None:
    """How many first dimensions of its own a reshape keeps that joins the others."""
    whole = sizes[0] if len(sizes) == 1 else ast.Tuple(list(sizes), ast.Load())
    if isinstance(whole, ast.BinOp) and isinstance(whole.op, ast.Add):
        kept, last = whole.left, whole.right
        rest = list(last.elts) if isinstance(last, ast.Tuple) else []
    elif isinstance(whole, ast.Tuple) and whole.elts and isinstance(whole.elts[0], ast.Starred):
        kept, rest = whole.elts[0].value, list(whole.elts[1:])
    elif isinstance(whole, ast.Tuple) and len(whole.elts) > 1:
        *front, wild = whole.elts
        own = [(_of_shape(e, is_own), ast.Constant(n)) for n, e in enumerate(front)]
        same = all(part is not None and ast.dump(part) == ast.dump(number) for part, number in own)
        return len(front) if same and ast.unparse(wild) == "-1" else None
    else:
        return None
    part = _of_shape(kept, is_own)
    if len(rest) != 1 or ast.unparse(rest[0]) != "-1" or not isinstance(part, ast.Slice):
        return None
    if part.lower is not None or part.step is not None or not isinstance(part.upper, ast.Constant):
        return None
    return part.upper.value if isinstance(part.upper.value, int) else None


def _of_shape(node: ast.expr, is_own: Callable[[ast.expr], bool]) -> ast.expr | None:
    """`0` of `x.shape[0]`."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Attribute) or node.value.attr != "shape":
        return None
    return node.slice if is_own(node.value.value) else None


__all__ = ["is_loose", "joined_rest", "like", "reshaped_width"]
