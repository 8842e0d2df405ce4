"""Variables that Linen looked up by collection and names, as attributes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...edits import Parts
from ...linen.modules.variable_reads import VariableRead, own_variable
from ...linen.values.sites import Unmigratable
from .text_parts import short

if TYPE_CHECKING:
    from ..classes.class_text import ClassText


def said(text: ClassText, read: VariableRead) -> Parts:
    """What stands in the place of a read: `self.key[...]`, `self.Embed_0.embedding[...]`."""
    if read.base is not None:
        return (read.source.span(read.base), *[f".{name}" for name in read.path], "[...]")
    if len(read.path) > 1:
        if read.site is not None:  # a part that a compact method makes: naming may have put it elsewhere
            place = text.names.places.get(read.site)
            if place is None or place.kind != "attribute" or place.object != f"self.{read.path[0]}":
                raise Unmigratable("NNX164", f"`{short(read.node)}` is used, whose place in NNX is not known", read.node)
        return (f"self.{'.'.join(read.path)}[...]",)
    site = own_variable(text.run, read)
    if not site.lazy:
        return (*text.reference(site), site.opened)
    name = read.path[0]
    if isinstance(read.node, ast.Call):
        return (f"(self.{name}{site.opened} if hasattr(self, {name!r}) else None)",)
    return (f"self.{name}{site.opened}",)


__all__ = ["said"]
