"""Fields that are annotated with the class that they hold: `extractor: type[NatureCNN] | None = None`.

Where nothing in the project gives such a field a value, it is taken to hold that class. A subclass that asks for other sizes
fails when it is made: its constructor takes other arguments.
"""

from __future__ import annotations

import ast
from typing import Any

from ...catalog import layers
from ..project.classes import Field
from ..values.sites import Factory

_TYPE = ("type", "typing.Type", "builtins.type")


def annotated_factory(run: Any, field: Field) -> Factory | None:
    """The class of modules that a field's annotation names, where it names one that no class of the project derives from."""
    node = _class_of(run, field, field.annotation)
    name = run.project.qualname(field.source, node) if node is not None else None
    if name is None or node is None:
        return None
    classes = run.analyser.classes
    model = classes.get(name)
    is_layer = name.startswith("flax.linen.") and layers.lookup(name) is not None
    if not is_layer and (model is None or classes.derived(model) or model is run.model):
        return None
    return Factory(name, ast.unparse(node), source=field.source)


def _class_of(run: Any, field: Field, node: ast.expr | None) -> ast.expr | None:
    """`X` of `type[X]`, `Optional[Type[X]]` and `type[X] | None`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            node = ast.parse(node.value, mode="eval").body
        except SyntaxError:
            return None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        sides = [s for s in (node.left, node.right) if not (isinstance(s, ast.Constant) and s.value is None)]
        return _class_of(run, field, sides[0]) if len(sides) == 1 else None
    if not isinstance(node, ast.Subscript):
        return None
    head = run.project.qualname(field.source, node.value) or ast.unparse(node.value)
    if head == "typing.Optional":
        return _class_of(run, field, node.slice)
    named = head in _TYPE and isinstance(node.slice, ast.Name | ast.Attribute)
    return node.slice if named else None


__all__ = ["annotated_factory"]
