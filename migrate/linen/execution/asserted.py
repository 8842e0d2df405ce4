"""What a method asserts of arrays whose shapes are not known: `assert y.shape == x.shape[:-1] + (self.width,)`.

A call for which that does not hold fails in Linen. What is known otherwise stays as it is: `H // 2` may be what is said
of `(H + 1) // 2`.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator
from typing import Any

from ..shapes.shape_args import as_shape
from ..shapes.shape_ops import Stop
from ..values.sites import Unmigratable
from ..values.values import Array, NeedsRank, Shape, Unknown

_SAID = (ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Tuple, ast.List, ast.Starred, ast.BinOp, ast.UnaryOp)
_BELOW = (*_SAID, ast.Constant, ast.operator, ast.unaryop, ast.expr_context)


def learn(run: Any, node: ast.Assert, env: Any) -> None:
    """Give the names of an assertion the shapes that it says."""
    for name, said in _pairs(node.test):
        bound = env.get(name)
        if bound is None or not _is_open(bound.value) or not all(isinstance(n, _BELOW) for n in ast.walk(said)):
            continue
        try:
            found = run.evaluate(said, env)
            shape = as_shape(found.value)
        except (Stop, Unmigratable):
            continue
        if not found.flags:
            env.names[name] = dataclasses.replace(bound, value=_filled(bound.value, shape))


def _pairs(test: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """A name, and what its shape is said to be."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for part in test.values:
            yield from _pairs(part)
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
        sides = (test.left, test.comparators[0])
        for one, other in (sides, sides[::-1]):
            if isinstance(one, ast.Attribute) and one.attr == "shape" and isinstance(one.value, ast.Name):
                yield one.value.id, other


def _is_open(value: Any) -> bool:
    """Is something of the shape not known?"""
    if type(value) is not Array:
        return type(value) in (Unknown, NeedsRank)
    return None in value.shape.dims or (value.shape.lead is not None and not value.shape.lead.known)


def _filled(value: Any, said: Shape) -> Array:
    """An array's shape with what is said of it in place of what is not known."""
    if type(value) is not Array:
        return Array(said)
    own = value.shape
    if own.lead is None:
        places = range(-len(own.dims), 0)
        return Array(Shape(tuple(d if d is not None else said.dim(i) for i, d in zip(places, own.dims))))
    if len(said.dims) < len(own.dims):
        said = said.expand(len(own.dims))
    if len(said.dims) < len(own.dims):
        return value
    known = {len(said.dims) - len(own.dims) + i: d for i, d in enumerate(own.dims) if d is not None}
    return Array(Shape(tuple(known.get(i, d) for i, d in enumerate(said.dims)), said.lead))


__all__ = ["learn"]
