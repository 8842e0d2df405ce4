"""Logical axis rules that a method puts in force around some of its modules: `with nn.logical_axis_rules(...)`.

Linen makes their parameters inside of it, laid out by these rules. A constructor makes them outside.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ..linen.axis_rules import RULE_SETTERS
from ..linen.sites import Unmigratable
from ..source import SourceFile
from ..trees import subtree
from .text_parts import short

if TYPE_CHECKING:
    from .class_text import ClassText

_CODE = "NNX179"
# What gives parameters logical names; without any of it rules mean nothing to them.
_NAMING = frozenset({"with_logical_partitioning", "LogicallyPartitioned", "param_with_axes", "variable_with_axes"})


def refuse(text: ClassText) -> None:
    """Raise Unmigratable where rules of a method's own lay out parameters."""
    if all(_NAMING.isdisjoint(source.words) for source in text.run.project.files.values()):
        return
    used = {id(site.anchor()[1]) for site in text.run.sites if not site.in_setup}
    used |= {id(call) for site in text.run.sites for call, _, _ in site.calls}
    for method in text.model.own_methods.values():
        for node in method.nodes:
            rules = _around(text, text.source, node)
            if rules is None:
                continue
            inside = node.body if isinstance(node, ast.With) else [method.node]
            if any(id(n) in used for statement in inside for n in subtree(statement)):
                said = f"`{short(rules)}` is in force where modules make their parameters"
                raise Unmigratable(_CODE, said, rules)


def _around(text: ClassText, source: SourceFile, node: ast.AST) -> ast.Call | None:
    """The call that puts rules in force, for a block or from there on."""
    calls = [item.context_expr for item in node.items] if isinstance(node, ast.With) else []
    if isinstance(node, ast.Expr):
        calls.append(node.value)
    for call in calls:
        if isinstance(call, ast.Call) and text.run.project.qualname(source, call.func) in RULE_SETTERS:
            return call
    return None


__all__ = ["refuse"]
