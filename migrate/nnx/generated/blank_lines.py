"""Blank lines that are left over where statements between them are gone: one stays in a block, two at module level, and
none behind a `def`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...source import SourceFile, lines_of
from ...trees import parse_text, same_tree

_Run = tuple[int, int]  # the first blank line, and the line behind the last one


def without_left_over(source: SourceFile, text: str) -> str:
    """The new text of a file, without blank lines that its old text did not have. In notebooks they belong to cells."""
    if source.path.suffix == ".ipynb":
        return text
    lines = lines_of(text)
    runs = [(run, most) for run in _runs(lines) if run[1] - run[0] > (most := _most(lines, run))]
    if not runs:
        return text
    old = source.lines
    known = {key for first, end in _runs(old) for key in _keys(old, first, end)}
    gone = {
        index
        for (first, end), most in runs
        if known.isdisjoint(_keys(lines, first, end)[: 2 if most else 1])
        for index in range(first + most, end)
    }
    done = "".join(line for index, line in enumerate(lines) if index not in gone)
    if done == text or not same_tree(parse_text(text), parse_text(done)):  # they may stand in a string
        return text
    return done


def _runs(lines: Sequence[str]) -> Iterator[_Run]:
    """Blank lines between two that are not."""
    first = None
    for index, line in enumerate(lines):
        if not line.strip():
            first = index if first is None else first
            continue
        if first:
            yield first, index
        first = None


def _most(lines: Sequence[str], run: _Run) -> int:
    """How many blank lines may stand in a place."""
    before, behind = lines[run[0] - 1].rstrip(), lines[run[1]]
    if not behind[0].isspace():
        return 2
    return 0 if before.endswith(":") and before.lstrip().startswith(("def ", "async def ", ")")) else 1


def _keys(lines: Sequence[str], first: int, end: int) -> tuple[tuple[str, int, str], tuple[str, int, str]]:
    """What tells a run of blank lines: the line before it and the line behind it."""
    return (lines[first - 1].strip(), end - first, ""), ("", end - first, lines[end].strip())


__all__ = ["without_left_over"]
