"""What methods of a base read of the attributes that derived classes give it."""

from __future__ import annotations

import ast
from collections.abc import Collection
from typing import TYPE_CHECKING

from ...linen.project.classes import Method
from ...linen.values.merging import members

if TYPE_CHECKING:
    from .class_write import ClassWriter


def write(writer: ClassWriter, inherited: Collection[Method]) -> None:
    """Rewrite such reads as in the class's own methods, and note them: all classes that share the method read alike."""
    given = {*inherited, *(m for m in writer.model.methods().values() if m.owner is not writer.model)}
    for method in sorted(given, key=lambda m: (str(m.source.path), m.node.lineno)):
        for node in method.nodes if method.name != "setup" else ():
            if isinstance(node, ast.Attribute):
                writer.rewrite_attribute(node, method)
                if _is_known(writer, node):
                    writer.read_there.append((method.source, method.source.span(node)))


def _is_known(writer: ClassWriter, node: ast.Attribute) -> bool:
    """Is it an attribute of the module, or one of a module, that the class makes?"""
    base = writer.run.evaluated.get(node.value)
    own = isinstance(node.value, ast.Name) and node.value.id == "self" and node.attr in writer.run.attributes
    return own or (base is not None and bool(members(base.value)))


__all__ = ["write"]
