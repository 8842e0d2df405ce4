"""Products of arrays whose numbers of dimensions are not known: `adjacency @ x`.

The last dimension is that of the array on the right, unless that is a vector. It is taken to be none: of a vector the
product would have the width of the other array, and what is made for it would fail at its first call.
"""

from __future__ import annotations

from ..values.values import Array, Lead, NeedsRank, Shape, Value

PRODUCTS = frozenset({"jax.numpy.matmul", "jax.numpy.dot", "jax.lax.batch_matmul", "numpy.matmul", "numpy.dot"})


def with_width(left: Value, right: Value, found: Value) -> Value:
    """`found`, what a product of two values gives, with its width where only the ranks of the two are not known."""
    if not (isinstance(found, NeedsRank) and isinstance(left, Array) and isinstance(right, Array)):
        return found
    width = right.shape.dim(-1)
    return found if width is None else Array(Shape((width,), Lead.unknown(*found.arguments)))
