"""`if config := self.lora:` as the assignment and the condition, which the analysis follows one after the other."""

from __future__ import annotations

import ast

from ..edits import EditSet
from ..linen.project.index import Project
from ..source import SourceFile
from ..trees import subtree


def as_statements(_: Project, source: SourceFile, model: ast.ClassDef) -> str | None:
    """The file with one such condition of a class less; None where there is none."""
    if ":=" not in source.text:
        return None
    for node in subtree(model):
        named = _first(node.test) if isinstance(node, ast.If) else None
        if not isinstance(node, ast.If) or named is None or not source.text.startswith("if", source.span(node).start):
            continue  # an `elif` is asked only where the conditions before it do not hold
        value = source.text_of(named.value)
        if "\n" in value or source.shares_line(node):
            continue
        indent, start = source.indent_of(node), source.line_span(node).start
        edits = EditSet(source.text)
        edits.insert(start, f"{indent}{named.target.id} = {value}{source.newline}")
        edits.replace(source.span(named), named.target.id)
        return edits.render()
    return None


def _first(node: ast.expr) -> ast.NamedExpr | None:
    """The assignment that a condition begins with: nothing is asked before it, and it is made whatever holds."""
    while not isinstance(node, ast.NamedExpr):
        if isinstance(node, ast.BoolOp):
            node = node.values[0]
        elif isinstance(node, ast.Compare | ast.BinOp):
            node = node.left
        elif isinstance(node, ast.UnaryOp):
            node = node.operand
        else:
            return None
    return node


__all__ = ["as_statements"]
