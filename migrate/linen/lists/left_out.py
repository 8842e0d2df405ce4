"""Loops of the call that leave out the last items of a list of `setup`.

    for i in range(len(self.layers) - 1):     for i, layer in enumerate(self.layers[:-1]):
      x = self.layers[i](x)                     x = self.norms[i](layer(x))

Linen makes no variables for an item that nothing calls.
"""

from __future__ import annotations

import ast
from typing import Any

from ..values.dims import Dim
from ..values.sites import Repeated, Site, Static
from ..values.values import Const, Int


def left_out(run: Any, site: Site, iterator: ast.expr) -> int | None:
    """How many items at the end of a module's list a loop, which counts from its first one, leaves out; None: not known."""
    if len(site.loops) != 1:
        return None
    made, gone = passes(run, site.loops[-1].node.iter), passes(run, iterator)
    left = made - gone if made is not None and gone is not None else None
    return left.value if left is not None and left.value is not None and left.value >= 0 else None


def is_last(run: Any, site: Site, place: ast.expr) -> bool:
    """Is it the index of the last item: `layers[-1]`, `layers[len(layers) - 1]`?"""
    index = _number(run, place)
    made = passes(run, site.loops[-1].node.iter) if len(site.loops) == 1 else None
    return index is not None and (index.value == -1 or (made is not None and (made - index).value == 1))


def passes(run: Any, iterator: ast.expr) -> Dim | None:
    """The number of a loop's passes, where fields say it."""
    called = _called(iterator)
    if called is not None:
        name, argument = called
        return _number(run, argument) if name == "range" else passes(run, argument)
    if isinstance(iterator, ast.Call) and ast.unparse(iterator.func) == "zip" and iterator.args and not iterator.keywords:
        return _shortest([passes(run, part) for part in iterator.args])
    left = _left_of_slice(iterator)
    if left is not None and isinstance(iterator, ast.Subscript):
        whole = passes(run, iterator.value)
        return whole - Dim.of(left) if whole is not None else None
    value = run.evaluated[iterator].value if iterator in run.evaluated else None
    if isinstance(value, Repeated):
        plain = value.loop is not None and not value.part and not value.in_some_passes
        return passes(run, value.loop.node.iter) if plain else None
    if isinstance(value, Static) and not value.deps:
        return Dim.opaque(f"len({value.text})")
    return None


def _called(node: ast.expr) -> tuple[str, ast.expr] | None:
    """`range(n)` or `enumerate(items)`, with the argument."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or len(node.args) != 1 or node.keywords:
        return None
    return (node.func.id, node.args[0]) if node.func.id in ("range", "enumerate") else None


def _left_of_slice(node: ast.expr) -> int | None:
    """How many items `items[:-1]` leaves out at its end."""
    part = node.slice if isinstance(node, ast.Subscript) else None
    if not isinstance(part, ast.Slice) or part.lower is not None or part.step is not None:
        return None
    last = part.upper.operand if isinstance(part.upper, ast.UnaryOp) and isinstance(part.upper.op, ast.USub) else None
    return last.value if isinstance(last, ast.Constant) and type(last.value) is int else None


def _shortest(counts: list[Dim | None]) -> Dim | None:
    """The number of passes of a loop over several sequences at once."""
    least = counts[0]
    for count in counts:
        more = count - least if count is not None and least is not None else None
        if more is None or more.value is None:
            return None
        least = count if more.value < 0 else least
    return least


def _number(run: Any, node: ast.expr) -> Dim | None:
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "len" and len(node.args) == 1:
        return passes(run, node.args[0])
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        left, right = _number(run, node.left), _number(run, node.right)
        if left is None or right is None:
            return None
        return left + right if isinstance(node.op, ast.Add) else left - right
    value = run.evaluated[node].value if node in run.evaluated else None
    if isinstance(value, Const) and type(value.value) is int:
        return Dim.of(value.value)
    dim = value.dim if isinstance(value, Int) else run.dim_of(value) if type(value) is Static else None
    return dim if dim is not None and not dim.dependencies() else None


__all__ = ["is_last", "left_out", "passes"]
