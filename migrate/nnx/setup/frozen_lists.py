"""Lists that setup keeps are tuples in Linen: `self.layers + (self.head,)`, `isinstance(self.sizes, tuple)`.

An `nnx.List` cannot be added, and other lists stay lists: where the code asks for the tuple, one is made.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.values.sites import Repeated, Static
from ...linen.values.values import Tup, Value
from ...source import SourceFile

if TYPE_CHECKING:
    from ..classes.class_write import ClassWriter

_ASKS = ("isinstance", "hash", "type")


def around(writer: ClassWriter, node: ast.Attribute, source: SourceFile) -> tuple[str, str]:
    """What stands around `self.layers` where modules are added, or asked for their kind; setup's sums are lists."""
    held = writer.run.attributes.get(node.attr)
    if held is None or not _is_sequence(held.value) or not _needs_tuple(node, source):
        return "", ""
    return ("tuple(", ")") if any(writer.run.modules_in(held.value)) else ("", "")


def is_asked_for(writer: ClassWriter, attribute: str, held: Value) -> bool:
    """Does code of the class's family need the tuple that Linen makes of a list without modules?"""
    if not _is_sequence(held) or (isinstance(held, Tup) and held.kind != "list"):
        return False
    classes = writer.run.analyser.classes.lineage(writer.model.qualname)
    return any(
        isinstance(node, ast.Attribute)
        and node.attr == attribute
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
        and _needs_tuple(node, method.source)
        for model in classes
        for method in model.own_methods.values()
        for node in method.nodes
    )


def _is_sequence(held: Value) -> bool:
    of_static = isinstance(held, Static) and held.sequence
    return isinstance(held, Tup) or of_static or (isinstance(held, Repeated) and held.kind != "dict")


def _needs_tuple(node: ast.Attribute, source: SourceFile) -> bool:
    parent = source.parents.get(node)
    if not isinstance(node.ctx, ast.Load):
        return False
    if isinstance(parent, ast.BinOp):
        return isinstance(parent.op, ast.Add | ast.Mult)
    if isinstance(parent, ast.Compare):
        return all(isinstance(op, ast.Eq | ast.NotEq) for op in parent.ops)
    called = parent.func.id if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) else ""
    return called in _ASKS and isinstance(parent, ast.Call) and parent.args[:1] == [node]
