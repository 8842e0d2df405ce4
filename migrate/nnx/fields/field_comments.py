"""Comments of fields, which go with them to the constructor's parameters.

    features: int  # the width                        def __init__(
    hidden: int = 8                                       self,
    \"\"\"how wide inside\"\"\"                       →         features: int,  # the width
                                                          # how wide inside
                                                          hidden: int = 8,

What stands right above a field, and a string right below it, are its own; a string becomes comments.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect

from ...edits import Span
from ...linen.project.classes import ClassModel, Field
from ...source import SourceFile


@dataclasses.dataclass(frozen=True)
class Comments:
    """Of one field: lines above its parameter, the one behind it, and all of the class body that goes with the field."""

    above: tuple[str, ...]
    behind: str
    span: Span


def of(model: ClassModel, field: Field) -> Comments:
    """The comments of a field that the class itself has."""
    source, lines = model.source, model.source.lines
    node = field.node
    first, last = node.lineno, node.end_lineno or node.lineno
    behind = lines[last - 1][_column(source, node) :].strip()
    behind = behind if behind.startswith("#") else ""
    if not field.init or not _alone(model, node):  # the rest stays where it is
        return Comments((), behind, source.line_span(node))
    string = _string_below(model, node)
    while first > 1 and lines[first - 2].strip().startswith("#") and _indent(lines[first - 2]) == _indent(lines[first - 1]):
        first -= 1
    if any("nnx-migrate" in line for line in lines[first - 1 : node.lineno - 1]):
        first = node.lineno  # marks of the tool stay where they are
    above = [line.strip() for line in lines[first - 1 : node.lineno - 1]]
    if string is not None:
        assert isinstance(string.value, ast.Constant)
        above += [f"# {line}".rstrip() for line in inspect.cleandoc(str(string.value.value)).splitlines()]
        last = string.end_lineno or string.lineno
    return Comments(tuple(above), behind, Span(source.offset(first, 0), source.line_span(string or node).end))


def last_line(model: ClassModel, field: Field) -> int:
    """The number of the last line that goes with a field."""
    node = field.node if not field.init or not _alone(model, field.node) else _string_below(model, field.node) or field.node
    return node.end_lineno or node.lineno


def _alone(model: ClassModel, node: ast.stmt) -> bool:
    """Has the field its lines to itself?"""
    lines = {node.lineno, node.end_lineno or node.lineno}
    others = (s for s in model.node.body if s is not node)
    return model.node.lineno not in lines and not any({s.lineno, s.end_lineno} & lines for s in others)


def _string_below(model: ClassModel, node: ast.stmt) -> ast.Expr | None:
    place = model.node.body.index(node) + 1
    found = model.node.body[place] if place < len(model.node.body) else None
    if (
        not isinstance(found, ast.Expr)
        or not isinstance(found.value, ast.Constant)
        or not isinstance(found.value.value, str)
    ):
        return None
    return found if found.lineno == (node.end_lineno or node.lineno) + 1 and _alone(model, found) else None


def _column(source: SourceFile, node: ast.stmt) -> int:
    """Where the statement ends on its last line, in characters."""
    return source.span(node).end - source.offset(node.end_lineno or node.lineno, 0)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
