"""Unified diffs of a file and its rewrite, fast where almost all lines stay.

Lines that stand once in both texts, in the same order, hold the two together (the anchors of patience diff); difflib
sees only what lies between them.
"""

from __future__ import annotations

import bisect
import collections
import difflib
from collections.abc import Iterator, Sequence

Opcode = tuple[str, int, int, int, int]  # as difflib has them: tag, before from, to, after from, to


def unified(before: Sequence[str], after: Sequence[str], context: int = 3) -> Iterator[str]:
    """The hunks of a unified diff, without the two file lines. Lines keep their ends."""
    for group in _groups(opcodes(before, after), context):
        first, last = group[0], group[-1]
        yield f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@\n"
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                for line in before[i1:i2]:
                    yield " " + line
                continue
            for line in before[i1:i2]:
                yield "-" + line
            for line in after[j1:j2]:
                yield "+" + line


def opcodes(before: Sequence[str], after: Sequence[str]) -> list[Opcode]:
    """How `before` becomes `after`; neighbours of one tag are one."""
    found: list[Opcode] = []
    i = j = 0
    for i_anchor, j_anchor in [*_anchors(before, after), (len(before), len(after))]:
        _between(before, after, i, i_anchor, j, j_anchor, found)
        if i_anchor < len(before):
            _add(found, "equal", i_anchor, i_anchor + 1, j_anchor, j_anchor + 1)
        i, j = i_anchor + 1, j_anchor + 1
    return found


def _between(before: Sequence[str], after: Sequence[str], i1: int, i2: int, j1: int, j2: int, found: list[Opcode]) -> None:
    """The opcodes of two stretches without anchors: equal ends first, difflib for the rest."""
    head = 0
    while i1 + head < i2 and j1 + head < j2 and before[i1 + head] == after[j1 + head]:
        head += 1
    tail = 0
    while i2 - tail > i1 + head and j2 - tail > j1 + head and before[i2 - tail - 1] == after[j2 - tail - 1]:
        tail += 1
    _add(found, "equal", i1, i1 + head, j1, j1 + head)
    a, b = before[i1 + head : i2 - tail], after[j1 + head : j2 - tail]
    if a and b:
        for tag, x1, x2, y1, y2 in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
            _add(found, tag, i1 + head + x1, i1 + head + x2, j1 + head + y1, j1 + head + y2)
    elif a or b:
        _add(found, "delete" if a else "insert", i1 + head, i2 - tail, j1 + head, j2 - tail)
    _add(found, "equal", i2 - tail, i2, j2 - tail, j2)


def _add(found: list[Opcode], tag: str, i1: int, i2: int, j1: int, j2: int) -> None:
    if i1 == i2 and j1 == j2:
        return
    if found and found[-1][0] == tag:
        _, x, _, y, _ = found.pop()
        i1, j1 = x, y
    found.append((tag, i1, i2, j1, j2))


def _anchors(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """Places of lines that stand once on each side, as many as keep their order (longest increasing subsequence)."""
    once = _once(before)
    there = _once(after)
    pairs = [(i, there[line]) for line, i in once.items() if line in there]  # in the order of `before`
    tails: list[int] = []  # the least last place in `after` of a run of each length
    ends: list[int] = []  # which pair that is
    previous: list[int] = []
    for index, (_, j) in enumerate(pairs):
        at = bisect.bisect_left(tails, j)
        previous.append(ends[at - 1] if at else -1)
        if at == len(tails):
            tails.append(j)
            ends.append(index)
        else:
            tails[at], ends[at] = j, index
    kept: list[tuple[int, int]] = []
    index = ends[-1] if ends else -1
    while index >= 0:
        kept.append(pairs[index])
        index = previous[index]
    return kept[::-1]


def _once(lines: Sequence[str]) -> dict[str, int]:
    counts = collections.Counter(lines)
    return {line: i for i, line in enumerate(lines) if counts[line] == 1}


def _groups(codes: list[Opcode], context: int) -> Iterator[list[Opcode]]:
    matcher = difflib.SequenceMatcher(None, "", "")
    matcher.opcodes = codes  # type: ignore[attr-defined]  # get_opcodes answers these
    yield from (list(group) for group in matcher.get_grouped_opcodes(context) if any(code[0] != "equal" for code in group))


def _range(start: int, stop: int) -> str:
    """As `diff -u` counts: from 1, and an empty range by the line before it."""
    length = stop - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"
