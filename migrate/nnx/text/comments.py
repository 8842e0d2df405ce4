"""The comments inside of statements, and which of them the edits leave: the others go above their statement."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from typing import Protocol

from ...edits import Overlay, Parts, Span
from ...source import SourceFile

PRAGMA = re.compile(r"#\s*(noqa|type:|pylint|pytype|pyright|mypy|fmt:|yapf|pragma|ruff|flake8|nnx-migrate)")
COMPOUND = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.FunctionDef, ast.ClassDef, ast.Match)


class Replacing(Protocol):
    """An edit: what takes the place of a span."""

    @property
    def span(self) -> Span: ...

    @property
    def parts(self) -> Parts: ...


def lost(source: SourceFile, statement: ast.stmt, edits: Sequence[Replacing]) -> list[str]:
    """The comments inside a statement that no edit leaves, each once; none of those that speak to a tool."""
    return list(dict.fromkeys(said for at, said in _within(source, statement) if not _is_kept(at, edits)))


def _within(source: SourceFile, statement: ast.stmt) -> Iterator[tuple[int, str]]:
    """The place and the text of each comment."""
    span = source.span(statement)
    text = source.text[span.start : span.end]
    if "#" not in text or "\n" not in text:
        return
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for token in tokenize.generate_tokens(io.StringIO(text + "\n", newline="").readline):
        if token.type == tokenize.COMMENT and not PRAGMA.match(token.string):
            yield span.start + starts[token.start[0] - 1] + token.start[1], token.string.rstrip("\r")


def _is_kept(at: int, edits: Sequence[Replacing]) -> bool:
    """Does the text at a place stand in what the edits leave?"""
    covering = [edit for edit in edits if edit.span.start <= at < edit.span.end]
    if not covering:
        return True
    outer = max(covering, key=lambda edit: edit.span.end - edit.span.start)
    for part in outer.parts:
        if isinstance(part, str):
            continue
        span = part.span if isinstance(part, Overlay) else part
        if span.start <= at < span.end:
            inner = [edit for edit in edits if edit is not outer and span.contains(edit.span) and edit.span != outer.span]
            return _is_kept(at, [*inner, *(part.edits if isinstance(part, Overlay) else ())])
    return False
