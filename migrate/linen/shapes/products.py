"""Products of arrays whose numbers of dimensions are not known: `adjacency @ x`.

The last dimension is that of the array on the right, unless that is a vector. It is taken to be none: of a vector the
product would have the width of the other array, and what is made for it would fail at its first call. Before a matrix that
is known as one, a parameter mostly, a vector is as likely (`self.into @ u`, of one step of a sequence): there the sizes say.
"""

from __future__ import annotations

from ..values.values import Array, Lead, NeedsRank, Shape, Value

PRODUCTS = frozenset({"jax.numpy.matmul", "jax.numpy.dot", "jax.lax.batch_matmul", "numpy.matmul", "numpy.dot"})


def with_width(left: Value, right: Value, found: Value) -> Value:
    """`found`, what a product of two values gives, with its width where only the ranks of the two are not known."""
    if not (isinstance(found, NeedsRank) and isinstance(left, Array) and isinstance(right, Array)):
        return found
    width = right.shape.dim(-1)
    if left.shape.rank == 2 and right.shape.rank is None and left.shape.dim(-1) != left.shape.dim(-2):
        rows, columns = left.shape.dims
        if columns is None or columns != right.shape.dim(-2):
            width = rows if columns is not None and columns == width else None
            return Array(Shape((width,), Lead.unknown(*found.arguments)))
    return found if width is None else Array(Shape((width,), Lead.unknown(*found.arguments)))
