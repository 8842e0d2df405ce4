"""Fields that a class inherits from a class of another file: their annotations and defaults under names of this file."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...catalog.functions import class_name
from ...edits import Overlay, Span
from ...linen.project.classes import Field
from ...linen.values.other_files import is_builtin
from ...linen.values.sites import Unmigratable
from ...trees import subtree
from ..text import elsewhere
from . import class_scope

if TYPE_CHECKING:
    from ..classes.class_write import ClassWriter
    from ..text.text_parts import MethodEdit


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
    out = _said(writer, field.source.span(node), node, field)
    return f"({out})" if field.source.is_bare_tuple(node) else out


def _said(writer: ClassWriter, span: Span, node: ast.expr, field: Field, within: MethodEdit | None = None) -> str:
    """The text of a span of the expression, with what its own file gets in its place: `lambda: nn.LayerNorm()`."""
    source = field.source
    changes: list[tuple[int, int, str]] = []
    for edit in writer.edits:
        if edit.source is source and not edit.insert and edit is not within and span.contains(edit.span):
            parts = (p if isinstance(p, str) else _said(writer, _span(p), node, field, edit) for p in edit.parts)
            changes.append((edit.span.start, edit.span.end, "".join(parts)))
    for name in subtree(node):
        if not isinstance(name, ast.Name) or not isinstance(name.ctx, ast.Load) or not span.contains(source.span(name)):
            continue
        if any(start <= source.span(name).start < end for start, end, _ in changes):
            continue
        scope = source.names.binding_scope(name.id, name)
        if scope is not None:
            if isinstance(scope, ast.ClassDef):
                at = source.span(name)
                changes.append((at.start, at.end, _of_body(writer, field, scope, name)))
            continue
        chain: ast.expr = name
        while isinstance(outer := source.parents.get(chain), ast.Attribute) and outer.value is chain:
            chain = outer
        where, text = _named(writer, field, name, chain)
        at = source.span(where)
        changes.append((at.start, at.end, text))
    out, at_end = "", span.start
    for start, end, text in sorted(changes, key=lambda change: (change[0], -change[1])):
        if start < at_end:
            continue  # inside of what has been replaced as a whole
        out += source.text[at_end:start] + text
        at_end = end
    return out + source.text[at_end : span.end]


def _span(part: Span | Overlay) -> Span:
    return part if isinstance(part, Span) else part.span


def _of_body(writer: ClassWriter, field: Field, scope: ast.ClassDef, name: ast.Name) -> str:
    """What the body of a class binds: the default of a field, which the class itself has no more, or an attribute of it."""
    default = class_scope.default_above(scope, name)
    if default is None:
        return f"{_owner(writer, field, scope, name)}.{name.id}"
    text = _said(writer, field.source.span(default), default, field)
    return "".join(part for part in class_scope.in_brackets(default, text) if isinstance(part, str))


def _owner(writer: ClassWriter, field: Field, scope: ast.ClassDef, name: ast.Name) -> str:
    """The class whose body binds a name that a default reads: its own attribute, whatever classes derived from it say."""
    owner = next((model for model in writer.model.mro() if model.node is scope), None)
    text = elsewhere.here(writer.text, owner.qualname) if owner is not None else None
    if text is None:
        reason = f"the field {field.name}, of {field.source.path.name}, reads `{name.id}` of its class's body"
        raise Unmigratable("NNX135", reason, field.node)
    return text


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
    if not bound and dotted is None and is_builtin(project, writer.source, name.id):
        return name, name.id
    reason = f"the field {field.name}, of {source.path.name}, needs `{ast.unparse(chain)}`, which this file does not have"
    raise Unmigratable("NNX135", reason, field.node)


__all__ = ["annotation", "said"]
