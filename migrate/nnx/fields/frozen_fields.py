"""Fields are frozen in Linen: a list that one is given is a tuple there, and a dict a FrozenDict.

    class MLP(nn.Module):                               def __init__(self, sizes: Sequence[int], ...):
      sizes: Sequence[int]                                if isinstance(sizes, list):
                                                              sizes = tuple(sizes)

Only where the class's family needs the one or the other: `self.sizes + (1,)`, `self.kernel == (1, 1)`,
`isinstance(self.config, dict)`, also in functions that are handed the field. Lists within lists stay what they are, but
where items are asked: `linen_parity.frozen` goes all the way down, as Linen does.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...edits import Parts
from ...linen.project.classes import Field, Method, kinds_in
from ...source import SourceFile
from ...trees import subtree
from . import handed_values

if TYPE_CHECKING:
    from ..classes.class_write import ClassWriter

_SEQUENCES = frozenset({"Sequence", "Tuple", "List", "Iterable", "tuple", "list"})
_OF_FROZEN_DICTS = frozenset({"pop", "copy", "unfreeze"})  # a dict has none such, or one that does something else
_TUPLES = frozenset({"tuple", "list"})
_DICTS = frozenset({"dict", "FrozenDict"})


def lines(writer: ClassWriter, fields: list[Field]) -> list[Parts]:
    """The statements that freeze what fields are given, ahead of all that reads them."""
    found: list[Parts] = []
    unit = writer.source.indent_unit
    for field in fields:
        if not field.init or field.name in writer.run.held:
            continue
        read = list(_reads(writer, field.name))
        reads = [one for node, source in read for one in handed_values.everywhere(writer, node, source)]
        items = [(item, there) for node, there in reads for item in handed_values.items(node, there)]
        asked = [one for item, there in items for one in handed_values.everywhere(writer, item, there)]
        asked = [
            (n, there) for n, there in asked if _is_index(n, there) or not _is_looked_up(n, there)
        ]  # mostly no sequences
        if any(_needs_tuple(node, source, field) or needs_frozen_dict(node, source) for node, source in asked):
            found.append((f"{field.name} = {writer.namer.parity('frozen')}({field.name})",))
            continue
        if any(_needs_tuple(node, source, field) for node, source in reads):
            # a number may be given where a sequence is annotated, and stays one
            found += [(f"if isinstance({field.name}, list):",), (unit, f"{field.name} = tuple({field.name})")]
        if any(needs_frozen_dict(node, source) for node, source in reads):
            freeze = writer.namer.imported("flax.core.freeze")
            found += [(f"if isinstance({field.name}, dict):",), (unit, f"{field.name} = {freeze}({field.name})")]
    return found


def _reads(writer: ClassWriter, name: str) -> Iterator[handed_values.Read]:
    """Where methods of the class's family read a field, also by a local name that is bound to it once, or a slice of it."""
    for model in writer.run.analyser.classes.lineage(writer.model.qualname):
        for method in model.own_methods.values():
            own: list[ast.expr] = list(method.fields_read.get(name, ()))
            names = {t.id for n in own for t in _bound_to(method, n)}
            if names:
                stored = [n.id for n in method.nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)]
                once = {n for n in names if stored.count(n) == 1}
                own += [n for n in method.nodes if isinstance(n, ast.Name) and n.id in once and isinstance(n.ctx, ast.Load)]
            for node in own:
                yield node, method.source
                parent = method.source.parents.get(node)
                if isinstance(parent, ast.Subscript) and parent.value is node and isinstance(parent.slice, ast.Slice):
                    yield parent, method.source


def _bound_to(method: Method, node: ast.expr) -> list[ast.Name]:
    parent = method.source.parents.get(node)
    targets = parent.targets if isinstance(parent, ast.Assign) and parent.value is node else []
    return [t for t in targets if isinstance(t, ast.Name)]


def _needs_tuple(node: ast.expr, source: SourceFile, field: Field) -> bool:
    parent = source.parents.get(node)
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Add):
        other = parent.right if parent.left is node else parent.left
        return _is_tuple(other) or (_is_sequence(field) and not _is_list(other))
    if isinstance(parent, ast.Compare) and all(isinstance(op, ast.Eq | ast.NotEq) for op in parent.ops):
        others = [o for o in (parent.left, *parent.comparators) if o is not node]
        return any(_is_tuple(o) or _is_list(o) or (_is_own(o) and _may_be_sequence(field)) for o in others)
    if _is_looked_up(node, source):
        of_array = isinstance(parent, ast.Subscript) and not _is_table(parent.value, source)
        displayed = (
            [n for o in parent.comparators for n in subtree(o) if n is not o] if isinstance(parent, ast.Compare) else []
        )
        among = any(isinstance(n, ast.expr) and _is_tuple(n) for n in displayed)
        return _may_be_sequence(field) if of_array or among or isinstance(parent, ast.Set) else _is_sequence(field)
    called = parent.func.id if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) else ""
    if not isinstance(parent, ast.Call) or parent.args[:1] != [node]:
        return False
    if called == "isinstance" and len(parent.args) == 2:
        return len(kinds_in(parent.args[1]) & _TUPLES) == 1  # of both it does not matter
    return called in ("hash", "type") and _is_sequence(field)


def is_key(node: ast.expr, parent: ast.AST | None) -> bool:
    """A key, an index or an item of a set: `table[self.kind]`, `{self.kind: 1}`, `self.kind in kinds`."""
    if isinstance(parent, ast.Subscript):
        return parent.slice is node
    if isinstance(parent, ast.Compare):
        return parent.left is node and any(isinstance(op, ast.In | ast.NotIn) for op in parent.ops)
    return isinstance(parent, ast.Set) or (isinstance(parent, ast.Dict) and node in parent.keys)


def needs_frozen_dict(node: ast.expr, source: SourceFile) -> bool:
    """Does code ask a dict for what a FrozenDict alone has, or which of the two it is?"""
    parent = source.parents.get(node)
    if isinstance(parent, ast.Attribute) and parent.attr in _OF_FROZEN_DICTS:
        call = source.parents.get(parent)
        return isinstance(call, ast.Call) and call.func is parent and (parent.attr != "copy" or bool(call.args))
    called = isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "isinstance"
    if not called or not isinstance(parent, ast.Call) or len(parent.args) != 2 or parent.args[0] is not node:
        return False
    return len(kinds_in(parent.args[1]) & _DICTS) == 1


def _is_tuple(node: ast.expr) -> bool:
    """Is it a tuple whatever is in it: a display, `tuple(...)`, `x.shape`, `x.shape[:-1]`?"""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        node = node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
        return _is_tuple(node.left) or _is_tuple(node.right)
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "tuple"
    return isinstance(node, ast.Tuple) or (isinstance(node, ast.Attribute) and node.attr == "shape")


def _is_list(node: ast.expr) -> bool:
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "list"
    return called or isinstance(node, ast.List | ast.ListComp)


def _is_looked_up(node: ast.expr, source: SourceFile) -> bool:
    parent = source.parents.get(node)
    return is_key(node, parent) or isinstance(parent, ast.FormattedValue | ast.Return)


def _is_index(node: ast.expr, source: SourceFile) -> bool:
    parent = source.parents.get(node)
    return isinstance(parent, ast.Subscript) and parent.slice is node


def _is_table(node: ast.expr, source: SourceFile) -> bool:
    """A dict or list that is written out, or a name of the file: a list as its key is an error, and none among arrays."""
    return isinstance(node, ast.Dict | ast.List | ast.Tuple) or (
        isinstance(node, ast.Name) and node.id in source.names.definitions
    )


def _is_own(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def _may_be_sequence(field: Field) -> bool:
    return _is_sequence(field) or not field.kinds or "Any" in field.kinds


def _is_sequence(field: Field) -> bool:
    """Is a field annotated as a sequence, if need be among other things?"""
    return bool((field.kinds or frozenset()) & _SEQUENCES)


__all__ = ["is_key", "lines", "needs_frozen_dict"]
