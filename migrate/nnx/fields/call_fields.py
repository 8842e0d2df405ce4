"""The edits of a class whose call takes what Linen's constructor took (see `linen/modules/call_fields.py`)."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.project.classes import Field
from ...linen.values.sites import Unmigratable
from ...trees import subtree

if TYPE_CHECKING:
    from ..classes.class_write import ClassWriter

_PLAIN = frozenset({"bool", "int", "float", "Array", "ndarray", "Any"})  # what `| None` can follow


def edits(writer: ClassWriter) -> None:
    """`def __call__(self, x, *, decode: bool | None = None)`, which falls back on the field.

    A caller may give None where the field's default is something else: what stands for nothing is then `...`. Where a flag
    has no default, either the constructor or the call has to give it.
    """
    fields = [f for f in writer.model.own_fields if f.name in writer.run.call_fields]
    values = writer.run.analyser.call_values.get(writer.model.qualname, set())
    if not fields:
        return
    method = writer.model.own_methods["__call__"]
    both = writer.text.call_keywords.keys() & {f.name for f in fields}
    if both:
        reason = f"`{min(both)}`, a field, and the flag of a factory would both become that argument of the call"
        raise Unmigratable("NNX172", reason)
    if writer.text.later and not values.isdisjoint(writer.run.call_fields):
        raise Unmigratable("NNX113", "the constructor calls the class, and has none of the arrays that its call is given")
    source, arguments = method.source, method.node.args
    for node in subtree(method.node):
        if isinstance(node, ast.Attribute) and node.attr in writer.run.call_fields and isinstance(node.value, ast.Name):
            if node.value.id == "self":
                writer.put(node, node.attr, source=source)
    given = [*arguments.args, *arguments.defaults, *arguments.kwonlyargs, *[d for d in arguments.kw_defaults if d]]
    end = max(source.span(n).end for n in given)
    others = arguments.kwonlyargs or writer.text.call_keywords  # the flags of factories, which are written before these
    taken, lines = [] if others else ["*"], []
    for field in fields:
        name, absent = field.name, _absent(field, field.name in values)
        kind = optional(field)
        taken.append(f"{name}: {kind} = {absent}" if kind else f"{name}={absent}")
        if field.default is not None or name in values:
            lines.append(f"{name} = self.{name} if {name} is {absent} else {name}")
        else:
            lines.append(f'{name} = {writer.namer.parity("merge_param")}("{name}", self.{name}, {name})')
    writer.insert(end, "".join(f", {one}" for one in taken), source=source)
    body = method.node.body
    described = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and len(body) > 1
    writer.put_before(source, body[1] if described else body[0], [(line,) for line in lines], order=-1)


def _absent(field: Field, value: bool) -> str:
    """What a call that gives nothing has."""
    default = field.default
    if default is None or (isinstance(default, ast.Constant) and default.value is None):
        return "None"
    return "..." if value or getattr(default, "value", False) is True else "None"


def optional(field: Field) -> str | None:
    """The annotation of an argument that has the field's value, or None; None where no plain one says that."""
    node = field.annotation
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr) and ast.unparse(node.right) == "None":
        node = node.left
    elif isinstance(node, ast.Subscript) and ast.unparse(node.value).rpartition(".")[2] == "Optional":
        node = node.slice
    if not isinstance(node, ast.Name | ast.Attribute):
        return None
    said = ast.unparse(node)
    return f"{said} | None" if said.rpartition(".")[2] in _PLAIN else None


__all__ = ["edits", "optional"]
