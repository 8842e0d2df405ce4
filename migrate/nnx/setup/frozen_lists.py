"""Lists that setup keeps are tuples in Linen: `self.layers + (self.head,)`, `isinstance(self.sizes, tuple)`.

An `nnx.List` cannot be added, and other lists stay lists, dicts stay dicts: where the code, or a function that is handed
them, asks for the tuple or the FrozenDict, one is made.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linen.values.mutation import changed_names
from ...linen.values.sites import Repeated, Static, Table, items_of
from ...linen.values.values import Tup, Unknown, Value
from ...source import SourceFile
from ...trees import subtree
from ..fields import handed_values
from ..fields.frozen_fields import is_key, needs_frozen_dict

if TYPE_CHECKING:
    from ..classes.class_write import ClassWriter

_LISTS = ("list", "sorted")
_ASKS = ("isinstance", "hash", "type")


def around(writer: ClassWriter, node: ast.Attribute, source: SourceFile) -> tuple[str, str]:
    """What stands around `self.layers` where modules are added, or asked for their kind; setup's sums are lists."""
    held = writer.run.attributes.get(node.attr)
    if held is None or not _is_sequence(held.value) or not _needs_tuple(node, source):
        return "", ""
    return ("tuple(", ")") if any(writer.run.modules_in(held.value)) else ("", "")


def grows_later(node: ast.stmt, value: ast.expr, source: SourceFile) -> bool:
    """`self.sizes = sizes`, and then `sizes.append(3)`: Linen keeps what the list held, NNX the list itself."""
    setup = source.function_of(node)
    if setup is None or not isinstance(value, ast.Name | ast.Dict | ast.List | ast.Tuple):
        return False
    names = {n.id for n in subtree(value) if isinstance(n, ast.Name)}
    loops = [n for n in source.ancestors(node) if isinstance(n, ast.For | ast.While)]
    for statement in (n for n in subtree(setup) if isinstance(n, ast.stmt) and n is not node):
        if names & (changed_names(statement) | _grown(statement)) and (
            statement.lineno > node.lineno or any(loop in source.ancestors(statement) for loop in loops)
        ):
            return True
    return False


def _grown(statement: ast.stmt) -> set[str]:
    """`sizes += [3]`"""
    lists = isinstance(statement, ast.AugAssign) and isinstance(
        statement.value, ast.List | ast.ListComp | ast.Tuple | ast.Dict
    )
    return {statement.target.id} if lists and isinstance(statement.target, ast.Name) else set()  # type: ignore[attr-defined]


def is_asked_for(writer: ClassWriter, attribute: str, held: Value, value: ast.expr) -> str:
    """What code of the class's family needs of a list or dict without modules: "tuple", "frozen" (deep down) or ""."""
    sequence = _is_sequence(held) and not (isinstance(held, Tup) and held.kind != "list")
    if not sequence and type(held) in (Static, Unknown):  # `sorted(sizes)`
        function = value.func if isinstance(value, ast.Call) else None
        sequence = isinstance(value, ast.ListComp) or (isinstance(function, ast.Name) and function.id in _LISTS)
    if not sequence and not isinstance(held, Table | Tup | Repeated):
        return ""
    classes = writer.run.analyser.classes.lineage(writer.model.qualname)
    methods = [method for model in classes for method in model.own_methods.values()]
    said = [(node, m.source) for m in methods for node in m.asked.get(attribute, ()) if isinstance(node.ctx, ast.Load)]
    said += _of_others(writer, attribute)
    reads = [one for node, source in said for one in handed_values.everywhere(writer, node, source)]
    items = [(item, source) for node, source in reads for item in handed_values.items(node, source)]
    asked = [one for item, source in items for one in handed_values.everywhere(writer, item, source)]
    nested = _holds_lists(held)
    if any(_needs_tuple(node, source) and (nested or _asks_for_a_kind(node, source)) for node, source in asked):
        return "frozen"
    if sequence:
        return "tuple" if any(_needs_tuple(node, source) for node, source in reads) else ""
    return "frozen" if any(needs_frozen_dict(node, source) for node, source in reads) else ""


def _of_others(writer: ClassWriter, attribute: str) -> Iterator[tuple[ast.Attribute, SourceFile]]:
    """Where anything but `self` is asked for an attribute of this name: `self.stats.shape + (3,)`."""
    for source in writer.run.project.files.values():
        for node in source.by_kind.get(ast.Attribute, ()) if attribute in source.words else ():
            if isinstance(node, ast.Attribute) and node.attr == attribute and isinstance(node.ctx, ast.Load):
                if not (isinstance(node.value, ast.Name) and node.value.id == "self"):
                    yield node, source


def _asks_for_a_kind(node: ast.expr, source: SourceFile) -> bool:
    """`isinstance(item, tuple)`, `item + (1,)`: other sums and comparisons of items are mostly of numbers."""
    parent = source.parents.get(node)
    if isinstance(parent, ast.BinOp | ast.Compare):
        operands = [parent.left, parent.right] if isinstance(parent, ast.BinOp) else [parent.left, *parent.comparators]
        return any(_is_tuple(operand) for operand in operands)
    return isinstance(parent, ast.Call)


def _is_tuple(node: ast.expr) -> bool:
    called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
    return isinstance(node, ast.Tuple) or called == "tuple"


def _holds_lists(held: Value) -> bool:
    """Is there a list in a list or dict, which Linen makes a tuple, too?"""
    return any((isinstance(item, Tup) and item.kind == "list") or _holds_lists(item) for item in items_of(held))


def _is_sequence(held: Value) -> bool:
    of_static = isinstance(held, Static) and held.sequence
    return isinstance(held, Tup) or of_static or (isinstance(held, Repeated) and held.kind != "dict")


def _needs_tuple(node: ast.expr, source: SourceFile) -> bool:
    parent = source.parents.get(node)
    if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
        return False
    if isinstance(parent, ast.BinOp):
        return isinstance(parent.op, ast.Add | ast.Mult)
    if isinstance(parent, ast.Compare):
        return all(isinstance(op, ast.Eq | ast.NotEq) for op in parent.ops)
    if is_key(node, parent) or isinstance(parent, ast.Return | ast.FormattedValue):
        return True
    called = parent.func.id if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) else ""
    return called in _ASKS and isinstance(parent, ast.Call) and parent.args[:1] == [node]
