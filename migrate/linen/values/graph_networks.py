"""What jraph makes of functions and modules: graph networks, which call each of these once when they are called."""

from __future__ import annotations

import ast

from ...frozen import frozen
from .values import Value

CONCATENATED = "jraph.concatenated_args"


@frozen(eq=False)
class Concatenated(Value):
    """`jraph.concatenated_args(f)`: calls a function with its arguments as one array. It may be one of several, or None."""

    options: tuple[Value, ...]

    def beside(self, other: Value) -> Concatenated:
        """One or the other, by a condition."""
        return Concatenated((*self.options, *(other.options if isinstance(other, Concatenated) else (other,))))


@frozen(eq=False)
class GraphNetwork(Value):
    """`jraph.GraphNetwork(update_edge, update_node)`: what it calls, in its order, with how many arguments each."""

    calls: tuple[tuple[Value, int], ...]
    node: ast.Call


__all__ = ["CONCATENATED", "Concatenated", "GraphNetwork"]
