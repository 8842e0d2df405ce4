"""Files whose text was changed."""

from __future__ import annotations

import ast

from ..edits import Span
from ..files.magics import lines_kept
from ..source import SourceFile
from .callees import NotInlined


def reparsed(source: SourceFile, text: str) -> SourceFile:
    """The file with another text. Cells of notebooks and their magics stay what and where they are."""
    if lines_kept(source.text) != lines_kept(text):
        raise NotInlined("its text holds a magic of a notebook")
    try:
        return SourceFile.parse(
            source.path, source.module, text, is_package=source.is_package, resolve=source.resolve, prefix=source.prefix
        )
    except SyntaxError as error:
        raise NotInlined("its text cannot stand there") from error


def class_of(source: SourceFile, name: str) -> ast.ClassDef:
    found = source.names.definitions.get(name)
    if not isinstance(found, ast.ClassDef):
        raise NotInlined("the class is not one of its module")
    return found


def with_blank_lines(source: SourceFile, node: ast.stmt) -> Span:
    """The lines of a function, and the blank ones below it."""
    span = source.line_span(node)
    end = span.end
    while end < len(source.text) and not source.text[end : source.line_end(end)].strip():
        end = source.line_end(end)
    return Span(span.start, end)


__all__ = ["class_of", "reparsed", "with_blank_lines"]
