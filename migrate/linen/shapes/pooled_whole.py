"""Pooling over a window as large as the image, whatever that is: `nn.avg_pool(x, x.shape[1:3])`."""

from __future__ import annotations

import ast

from ..values.dims import Dim
from ..values.values import Array, Shape


def pooled_whole(node: ast.Call, found: Array) -> Array:
    """What such a call gives, which `found` has but for the sizes that are 1 then."""
    given = dict(zip(("inputs", "window_shape", "strides", "padding"), node.args)) | {k.arg: k.value for k in node.keywords}
    window, padding = given.get("window_shape"), given.get("padding")
    rank = found.shape.rank
    if not isinstance(window, ast.Subscript) or not isinstance(window.slice, ast.Slice) or rank is None or None in given:
        return found
    if padding is not None and not (isinstance(padding, ast.Constant) and padding.value == "VALID"):
        return found
    held, inputs = window.value, given.get("inputs")
    own = isinstance(held, ast.Attribute) and held.attr == "shape" and isinstance(inputs, ast.Name)
    if not own or ast.unparse(held) != f"{ast.unparse(given['inputs'])}.shape" or window.slice.step is not None:
        return found
    try:
        ends = [None if part is None else ast.literal_eval(part) for part in (window.slice.lower, window.slice.upper)]
        covered = range(rank)[slice(*ends)]
    except (ValueError, TypeError):
        return found
    if covered != range(1, rank - 1):
        return found
    return Array(Shape((found.shape.dims[0], *[Dim.of(1)] * (rank - 2), found.shape.dims[-1])))
