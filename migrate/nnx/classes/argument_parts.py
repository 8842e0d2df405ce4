"""Arguments of the call, or items of them, of which parts are read that no array has: `obs, dones = x`, then `obs.image`."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from ...linen.values.sites import Unmigratable
from . import array_arguments

if TYPE_CHECKING:
    from ...linen.project.classes import Method
    from .class_text import ClassText

_PART = re.compile(r"(.*[\w\]])\.(\w+)")


def refuse_both(text: ClassText) -> None:
    """Refuse a constructor that would ask for the size of something and for that of a part of it.

    `obs = x.obs if self.wrapped else x`: a call gives one of the two, and the other cannot be said.
    """
    for argument in text.used:
        part = _PART.fullmatch(argument)
        if part is not None and part[1] in text.used and not array_arguments.of_arrays(part[2]):
            reason = f"`{part[1]}` is an array here, and `{argument}` there: no call has both"
            raise Unmigratable("NNX110", reason, text.model.node)


def are_read(method: Method, name: str) -> bool:
    """Are such parts read of the items of an argument, by whatever name?"""
    names: set[str] = set()
    for node in method.nodes:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id == name:
            for target in node.targets:
                items = target.elts if isinstance(target, ast.Tuple | ast.List) else []
                names |= {item.id for item in items if isinstance(item, ast.Name)}
    pairs = [
        (target.id, node.value)
        for node in method.nodes
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    ]
    while more := {held for held, value in pairs if _is_item(value, name, names)} - names:
        names |= more
    return any(
        isinstance(node, ast.Attribute) and not array_arguments.of_arrays(node.attr) and _is_item(node.value, name, names)
        for node in method.nodes
    )


def _is_item(node: ast.expr, argument: str, names: set[str]) -> bool:
    """Is it one of these names, `x[0]`, or a choice of such?"""
    if isinstance(node, ast.IfExp):
        return _is_item(node.body, argument, names) or _is_item(node.orelse, argument, names)
    if isinstance(node, ast.Subscript):
        return isinstance(node.value, ast.Name) and node.value.id == argument
    return isinstance(node, ast.Name) and node.id in names


__all__ = ["are_read", "refuse_both"]
