"""The edits of a class whose call takes flags that Linen's constructor took (see `linen/modules/call_fields.py`)."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.values.sites import Unmigratable
from ...trees import subtree

if TYPE_CHECKING:
    from ..classes.class_write import ClassWriter


def edits(writer: ClassWriter) -> None:
    """`def __call__(self, x, *, decode: bool | None = None)`, which falls back on the field.

    A caller may give None, which is false, where the field's default is true: what stands for nothing is then `...`.
    Where the field has no default, either the constructor or the call has to give it.
    """
    names = sorted(writer.run.call_fields)
    defaults = {f.name: f.default for f in writer.model.own_fields}
    absent = {n: "..." if getattr(defaults[n], "value", False) is True else "None" for n in names}
    if not names:
        return
    method = writer.model.own_methods["__call__"]
    if writer.text.call_keywords:
        raise Unmigratable("NNX172", f"`{names[0]}` and the flags of factories would both become arguments of the call")
    source, arguments = method.source, method.node.args
    for node in subtree(method.node):
        if isinstance(node, ast.Attribute) and node.attr in names and isinstance(node.value, ast.Name):
            if node.value.id == "self":
                writer.put(node, node.attr, source=source)
    given = [*arguments.args, *arguments.defaults, *arguments.kwonlyargs, *[d for d in arguments.kw_defaults if d]]
    end = max(source.span(n).end for n in given)
    star = "" if arguments.kwonlyargs else ", *"
    writer.insert(end, star + "".join(f", {name}: bool | None = {absent[name]}" for name in names), source=source)
    body = method.node.body
    described = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and len(body) > 1
    first = body[1] if described else body[0]
    lines = [
        f"{name} = self.{name} if {name} is {absent[name]} else {name}"
        if defaults[name] is not None
        else f'{name} = {writer.namer.parity("merge_param")}("{name}", self.{name}, {name})'
        for name in names
    ]
    between = f"{source.newline}{source.indent_of(first)}"
    writer.insert(source.span(first).start, "".join(line + between for line in lines), source=source)


__all__ = ["edits"]
