"""Modules that a layer of the constructor is given, under the names that they have there."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...edits import Parts
from ...linen.values.sites import BoundArg, Module, Site, SitePart

if TYPE_CHECKING:
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


__all__ = ["said"]
