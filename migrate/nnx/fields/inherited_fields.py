"""Fields that a class inherits from a class of another file: their annotations and defaults under names of this file."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

from ...catalog.functions import class_name
from ...linen.project.classes import Field
from ...linen.values.sites import Unmigratable
from ...trees import subtree
from ..text import elsewhere

if TYPE_CHECKING:
    from ..classes.class_write import ClassWriter


def annotation(writer: ClassWriter, field: Field) -> str | None:
    """A field's annotation as this file says it; None where it cannot: it is left out then, as it says nothing that runs."""
    assert field.annotation is not None
    try:
        return said(writer, field.annotation, field)
    except Unmigratable:
        return None


def said(writer: ClassWriter, node: ast.expr, field: Field) -> str:
    """An expression of the file where the field stands, as this file says it.

    What this file has no name for is imported from the module that defines the field's class: this file imports that
    class from there already, and the name is bound there before the class is.
    """
    source = field.source
    span = source.span(node)
    changes: list[tuple[int, int, str]] = []
    for name in subtree(node):
        if not isinstance(name, ast.Name) or not isinstance(name.ctx, ast.Load) or source.names.is_hidden(name.id, name):
            continue
        chain: ast.expr = name
        while isinstance(outer := source.parents.get(chain), ast.Attribute) and outer.value is chain:
            chain = outer
        where, text = _named(writer, field, name, chain)
        at = source.span(where)
        changes.append((at.start, at.end, text))
    out, at_end = "", span.start
    for start, end, text in sorted(changes):
        out += source.text[at_end:start] + text
        at_end = end
    out += source.text[at_end : span.end]
    return f"({out})" if source.is_bare_tuple(node) else out


def _named(writer: ClassWriter, field: Field, name: ast.Name, chain: ast.expr) -> tuple[ast.expr, str]:
    """What to put in place of a name, or of the dotted name that begins with it."""
    source, project = field.source, writer.run.project
    dotted = project.qualname(source, chain)
    if dotted is not None:
        text = elsewhere.here(writer.text, dotted)
        if text is not None:
            return chain, text
        known = class_name(dotted)
        if known is not None and not known.startswith("linen_parity."):
            return chain, writer.namer.name(known)
    bound = name.id in source.names.definitions or name.id in source.names.module_imports
    if bound and source.module and not (dotted or "").startswith("flax.linen"):
        return name, writer.namer.imported(f"{source.module}.{name.id}")
    if not bound and dotted is None and hasattr(builtins, name.id):
        return name, name.id
    reason = f"the field {field.name}, of {source.path.name}, needs `{ast.unparse(chain)}`, which this file does not have"
    raise Unmigratable("NNX135", reason, field.node)


__all__ = ["annotation", "said"]
