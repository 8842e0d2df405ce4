"""Modules that a layer of the constructor is given, or a field holds, under the names that they have there."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...edits import Parts
from ...linen.modules.passed import attribute_name, held_modules
from ...linen.values.sites import BoundArg, Module, Site, SitePart, Unmigratable

if TYPE_CHECKING:
    from ...linen.execution.execute import Execution
    from ..classes.class_text import ClassText


def said(text: ClassText, bound: BoundArg, site: Site) -> Parts | None:
    """`self.Dense_0` for a layer that stands there or has a name in the method, `self.dense` for setup's."""
    value = bound.abs.value
    if not isinstance(value, Module):
        return None
    place = text.names.places.get(value.site)
    alone = place is not None and place.kind == "attribute" and not value.element
    if site.in_setup:
        itself = alone and place is not None and bound.node is not None and ast.unparse(bound.node) == place.object
        return (place.object,) if itself and place is not None else None
    if bound.node is value.site.node or (alone and isinstance(bound.node, ast.Name)):
        return (text.resolve(SitePart(value.site)),)
    return None


def attribute(text: ClassText, run: Execution, field: str, path: list[str]) -> str:
    """How NNX calls an attribute, or one of an attribute, of what a field holds, which may be handed on in turn."""
    kinds = {module.site.target for name, module in held_modules(run) if name == field and module.site.kind == "class"}
    if len(path) == 1 or len(kinds) != 1:
        return ".".join([_held(text, run, field, path[0]), *path[1:]])
    text.analyser.read_attributes.add(path[0])
    inner = text.analyser.execution(kinds.pop())
    return f"{path[0]}.{attribute(text, inner, path[0], path[1:])}"


def _held(text: ClassText, run: Execution, field: str, name: str) -> str:
    """How NNX calls an attribute of what a field holds; of a class of the project it is then read from outside."""
    names = set()
    for held, module in held_modules(run):
        if held == field:
            names.add(attribute_name(module.site, name))
            if module.site.kind == "class":
                text.analyser.read_attributes.add(name)
    if not names:
        return name
    found = names.pop()
    if names or found is None:
        raise Unmigratable("NNX127", f"`{name}` of what is passed as `{field}` is kept under different names")
    return found


__all__ = ["attribute", "said"]
