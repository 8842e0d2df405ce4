"""Arguments of a call that are shapes: `def __call__(self, x, out_shape)`, called as `skip(x, y.shape)`.

Their numbers are known where the caller's sizes are, as those of an array: the constructor is given the shape.
"""

from __future__ import annotations

import ast
import functools

from ...trees import FlatTree, of_kind


@functools.lru_cache(maxsize=4096)
def is_shape(function: ast.FunctionDef, name: str) -> bool:
    """Is an argument compared with a shape, or called one, and used in no other way than a shape can be?"""
    said = name == "shape" or name.endswith("_shape")
    if not said and not of_kind(function, ast.Compare):
        return False
    tree = FlatTree(function)
    for node in tree.nodes:
        if not isinstance(node, ast.Name) or node.id != name:
            continue
        around = tree.parents[node]
        if not isinstance(node.ctx, ast.Load) or isinstance(around, ast.Attribute | ast.BinOp | ast.Return):
            return False
        if isinstance(around, ast.Compare):
            others = [o for o in (around.left, *around.comparators) if o is not node]
            shapes = [isinstance(o, ast.Attribute) and o.attr == "shape" for o in others]
            if not all(shapes):
                return False
            said = True
        elif isinstance(around, ast.Subscript) and around.value is not node:
            return False
    return said


__all__ = ["is_shape"]
