"""What a field's annotation says of it, where the class does not say otherwise.

activation: int = "relu"                 an int is a size of the shapes, but no size is equal to a text: the
if self.activation == "tanh": ...        side of `tanh` would never be taken
"""

from __future__ import annotations

import ast

from ...trees import of_kind, subtree
from ..project.classes import ClassModel, Field

_INT = ("int", "'int'", '"int"')


def is_size(model: ClassModel, field: Field, annotation: str) -> bool:
    """Is a field a whole number for sure?"""
    if annotation not in _INT or (isinstance(field.default, ast.Constant) and not isinstance(field.default.value, int)):
        return False
    return not any(_asks_for_text(test, field.name) for owner in model.mro() for test in of_kind(owner.node, ast.Compare))


def _asks_for_text(test: ast.Compare, name: str) -> bool:
    sides = [test.left, *test.comparators]
    if not any(isinstance(s, ast.Attribute) and s.attr == name and ast.unparse(s.value) == "self" for s in sides):
        return False
    return any(isinstance(n, ast.Constant) and isinstance(n.value, str) for side in sides for n in subtree(side))


__all__ = ["is_size"]
