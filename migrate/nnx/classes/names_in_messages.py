"""`self.name` and `self.path` in what only people read: log lines, error messages, names of profiler regions.

NNX modules have no names. There the class's name stands in; anywhere else such a class stays Linen (NNX164).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.project.classes import Method
from ...linen.project.own_name import is_message
from ...trees import of_kind

if TYPE_CHECKING:
    from ...linen.execution.execute import Execution
    from .class_write import ClassWriter

_SAID = {"name": "type(self).__name__", "path": "(type(self).__name__,)"}


def found(run: Execution, method: Method) -> list[tuple[ast.Attribute, str]]:
    """Such reads of a method, with what takes their place."""
    reads: list[tuple[ast.Attribute, str]] = []
    for node in of_kind(method.node, ast.Attribute):
        if node.attr not in _SAID or not isinstance(node.ctx, ast.Load):
            continue
        if not isinstance(node.value, ast.Name) or node.value.id != "self":
            continue
        if node.attr in run.fields or node.attr in run.attributes or run.model.class_attribute(node.attr):
            continue
        if is_message(run.project, method.source, node):
            reads.append((node, _SAID[node.attr]))
    return reads


def edits(writer: ClassWriter) -> None:
    """Put the class's name in their place."""
    for method in writer.model.own_methods.values():
        for node, text in found(writer.run, method):
            writer.put(node, text, source=method.source)


__all__ = ["edits", "found"]
