"""Lambdas with a name of their module that a class calls, said as functions: `conv = lambda n: nn.Conv(n, (3,))`."""

from __future__ import annotations

import ast

from ..edits import EditSet
from ..linen.project.index import Project
from ..source import SourceFile
from ..trees import subtree


def with_named_functions(project: Project, source: SourceFile, model: ast.ClassDef) -> str | None:
    """The file with one such lambda less; None where there is none."""
    for node in subtree(model):
        held = source.names.single_assignments.get(node.id) if isinstance(node, ast.Name) else None
        statement = source.parents.get(held) if isinstance(held, ast.Lambda) else None
        if not isinstance(statement, ast.Assign) or not isinstance(held, ast.Lambda) or len(statement.targets) != 1:
            continue
        assert isinstance(node, ast.Name)
        if not isinstance(source.parents.get(statement), ast.Module) or source.names.is_hidden(node.id, node):
            continue
        body = source.text_of(held.body)
        said = body if _stands(body) else f"({body})"
        edits = EditSet(source.text)
        arguments = ast.unparse(held.args)
        span = source.line_span(statement)
        above = "" if source.text[: span.start].endswith("\n\n") else "\n\n"
        below = "" if source.text[source.line_end(span.end - 1) :].lstrip(" ").startswith("\n") else "\n\n"
        edits.replace(source.span(statement), f"{above}def {node.id}({arguments}):\n{source.indent_unit}return {said}")
        if below:
            edits.insert(source.line_end(span.end - 1), below)
        return edits.render()
    return None


def _stands(text: str) -> bool:
    """Can it stand behind `return`, over several lines, too?"""
    try:
        return len(ast.parse(text).body) == 1
    except SyntaxError:
        return False


__all__ = ["with_named_functions"]
