"""Statements that share a line (`x = f(x); k += 1`): one that goes leaves the others."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from .edits import Span
from .source import SourceFile


def beside(source: SourceFile, statement: ast.stmt) -> list[ast.stmt]:
    """The statements of a line, this one among them."""
    parent = source.parents.get(statement)
    blocks = [getattr(parent, name, None) for name in ("body", "orelse", "finalbody")]
    block = next((b for b in blocks if isinstance(b, list) and statement in b), [statement])
    first = last = block.index(statement)
    while first and block[first - 1].end_lineno == block[first].lineno:
        first -= 1
    while last + 1 < len(block) and block[last].end_lineno == block[last + 1].lineno:
        last += 1
    return block[first : last + 1]


def removals(source: SourceFile, going: Collection[ast.stmt]) -> Iterator[Span]:
    """What is to be taken away with statements: their lines, or what they have of a line that others need."""
    done: set[ast.stmt] = set()
    for statement in going:
        if statement in done:
            continue
        line = beside(source, statement)
        done.update(line)
        if all(s in going for s in line):
            yield Span(source.line_span(line[0]).start, source.line_span(line[-1]).end)
            continue
        at = 0
        while at < len(line):
            end = at
            while end < len(line) and line[end] in going:
                end += 1
            if end > at and end < len(line):
                yield Span(source.full_span(line[at]).start, source.full_span(line[end]).start)
            elif end > at:
                yield Span(source.span(line[at - 1]).end, source.span(line[-1]).end)
            at = end + 1


__all__ = ["beside", "removals"]
