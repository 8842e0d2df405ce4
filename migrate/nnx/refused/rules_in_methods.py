"""Logical axis rules that a method puts in force around some of its modules: `with nn.logical_axis_rules(...)`.

Linen makes their parameters inside of it, laid out by these rules. A constructor makes them outside.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linen.project.axis_rules import RULE_SETTERS
from ...linen.values.sites import Unmigratable
from ...source import SourceFile
from ...trees import subtree
from ..text.text_parts import short

if TYPE_CHECKING:
    from ..classes.class_text import ClassText

_CODE = "NNX179"
# What gives parameters logical names; without any of it rules mean nothing to them.
_NAMING = ("with_logical_partitioning", "LogicallyPartitioned", "param_with_axes", "variable_with_axes")
_LIBRARIES = ("jax.", "numpy.", "math.", "flax.linen.")


def refuse(text: ClassText) -> None:
    """Raise Unmigratable where rules of a method's own, or of a function that it calls, may lay out parameters."""
    project = text.run.project
    if not (project.says("axis_rules") and project.says(*_NAMING)):
        return
    made = {id(site.anchor()[1]) for site in text.run.sites if not site.in_setup}
    for function, source in text.run.executed.items():
        for rules, inside in _in_force(text, source, function):
            calls = [n for part in inside for n in subtree(part) if isinstance(n, ast.Call) and n is not rules]
            if any(id(call) in made or not _is_of_a_library(text, source, call) for call in calls):
                said = f"`{short(rules)}` is in force where modules may make their parameters"
                raise Unmigratable(_CODE, said, rules)


def _in_force(text: ClassText, source: SourceFile, function: ast.AST) -> Iterator[tuple[ast.Call, list[ast.AST]]]:
    """The calls that put rules in force, each with the code for which they are: a block, or all of the function."""
    for node in subtree(function):
        if isinstance(node, ast.Call) and text.run.project.qualname(source, node.func) in RULE_SETTERS:
            parent = source.parents.get(node)
            block = source.parents.get(parent) if isinstance(parent, ast.withitem) else None
            yield node, list(block.body) if isinstance(block, ast.With) else [function]


def _is_of_a_library(text: ClassText, source: SourceFile, call: ast.Call) -> bool:
    """Is it a function that makes nothing?"""
    name = text.run.project.qualname(source, call.func)
    return name is not None and name.startswith(_LIBRARIES)


__all__ = ["refuse"]
