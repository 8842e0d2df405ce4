"""Reshapes of arrays, or to sizes, that are not all known: what is written of the new shape is known of it."""

from __future__ import annotations

import ast
import functools
import operator
from collections.abc import Sequence

from ..values.dims import Dim
from ..values.values import Array, Int, Lead, NeedsRank, Shape, ShapeOf, Star, Tup, Unknown, Value


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


def joined_rest(array: Array, name: ast.expr, sizes: Sequence[ast.expr]) -> Array | None:
    """`x.reshape(x.shape[:2] + (-1,))`, `x.reshape(*x.shape[:2], -1)`: the dimensions after those become one, whatever the
    first ones are; None for another reshape."""
    first = _own_first(name, sizes)
    shape = array.shape
    if first is None or first < 0 or shape.rank is None or not first < shape.rank:
        return None
    rest = [d for d in shape.dims[first:] if d is not None]
    if len(rest) < shape.rank - first:
        return None
    return Array(Shape((*shape.dims[:first], functools.reduce(operator.mul, rest, Dim.of(1)))))


def _own_first(name: ast.expr, sizes: Sequence[ast.expr]) -> int | None:
    """How many first dimensions of `name` a reshape keeps that joins the others."""
    whole = sizes[0] if len(sizes) == 1 else ast.Tuple(list(sizes), ast.Load())
    if isinstance(whole, ast.BinOp) and isinstance(whole.op, ast.Add):
        kept, last = whole.left, whole.right
        rest = list(last.elts) if isinstance(last, ast.Tuple) else []
    elif isinstance(whole, ast.Tuple) and whole.elts and isinstance(whole.elts[0], ast.Starred):
        kept, rest = whole.elts[0].value, list(whole.elts[1:])
    elif isinstance(whole, ast.Tuple):
        count = len(whole.elts) - 1
        own = [f"{ast.unparse(name)}.shape[{n}]" for n in range(count)]
        same = [ast.unparse(e) for e in whole.elts[:-1]] == own and ast.unparse(whole.elts[-1]) == "-1"
        return count if same and count > 0 else None
    else:
        return None
    if len(rest) != 1 or ast.unparse(rest[0]) != "-1" or not isinstance(kept, ast.Subscript):
        return None
    part = kept.slice
    if ast.unparse(kept.value) != f"{ast.unparse(name)}.shape" or not isinstance(part, ast.Slice):
        return None
    if part.lower is not None or part.step is not None or not isinstance(part.upper, ast.Constant):
        return None
    return part.upper.value if isinstance(part.upper.value, int) else None


__all__ = ["is_loose", "joined_rest", "reshaped_width"]
