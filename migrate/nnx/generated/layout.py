"""Lines that became too long are broken within their brackets, as Black would: all between the brackets on a line of its
own where it fits, else one item a line.

Only lines that the file did not have before, and only white space within brackets and a comma behind the last item change.
"""

from __future__ import annotations

import ast
import bisect
import dataclasses
import itertools
from collections.abc import Collection, Container, Mapping, Sequence

from ...source import SourceFile, lines_of
from ...trees import children, parse_text, same_tree, subtree
from ..text.comments import PRAGMA
from .imports import Parsed

_LEAST, _MOST = 100, 120  # characters that a line may have: as many as the file's own, within these
_WORTH = 40  # characters of brackets that are worth breaking
_DEPTH = 4  # brackets within brackets

Bracketed = ast.Call | ast.Tuple | ast.List | ast.Set | ast.Dict


def shortened(source: SourceFile, text: str, known: Parsed | None = None) -> str:
    """The new text of a file, with its long lines broken; as it is where that would not be the same program.

    Raises SyntaxError where the new text is no program. `known`: of this text, where it was parsed before.
    """
    if known is not None and known.text == text and known.tree is not None:
        tree, places = known.tree, known.lines_before
    else:
        tree, places = parse_text(text), _themselves
    old = set(source.text.splitlines())
    limit = max(_LEAST, min(_MOST, max(map(len, old), default=0)))
    lines = lines_of(text)
    long = {n for n, line in enumerate(lines) if _is_long(line.rstrip("\r\n"), old, limit)}
    if not long:
        return text
    numbers = {place: number for number, place in places(long).items()}  # in the tree → in the text
    changed: set[int] = set()
    for place, nodes in _on_lines(tree, numbers.keys()).items():
        line = lines[numbers[place]].rstrip("\r\n")
        found = [(n, bounds) for n in nodes if _width(n) >= _WORTH and (bounds := _bounds(n, line)) is not None]
        broken = _Breaker(source, old, limit, line, found).broken()
        if broken != lines[numbers[place]]:
            lines[numbers[place]] = broken
            changed.add(place)
    done = "".join(lines)
    if done == text or _are_same(tree, {place: numbers[place] - place for place in changed}, lines):
        return done
    try:
        return done if same_tree(parse_text(text), parse_text(done)) else text
    except SyntaxError:  # brackets that are not what they seemed
        return text


def _themselves(numbers: Collection[int]) -> dict[int, int]:
    return {number: number for number in numbers}


def _are_same(tree: ast.Module, changed: Mapping[int, int], lines: Sequence[str]) -> bool:
    """Are the statements around changed lines what they were? False also where the lines of one are not its alone.

    What begins on a line of its own and ends with a line reads the same wherever it stands. `changed`: lines as the tree
    numbers them (from 0), and how far from there they are in `lines`.
    """
    around: dict[int, ast.stmt] = {}
    for node in _across(tree, sorted(changed)):  # the outer ones first
        if isinstance(node, ast.stmt):
            around.update((place, node) for place in changed if _first(node) <= place < (node.end_lineno or 0))
    if around.keys() != changed.keys():
        return False
    for statement, away in {around[place]: away for place, away in changed.items()}.items():
        own = "".join(lines[_first(statement) + away : (statement.end_lineno or 0) + away])
        try:
            [found] = parse_text(f"if 1:\n{own}" if own[:1] in " \t" else own).body
            if own[:1] in " \t":
                [found] = found.body  # type: ignore[attr-defined]
        except (SyntaxError, ValueError):
            return False
        if not same_tree(found, statement):
            return False
    return True


def _first(statement: ast.stmt) -> int:
    """The line that a statement begins on, with its decorators, from 0."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)]) - 1


def _is_long(line: str, old: Container[str], limit: int) -> bool:
    """Is a line new and too long? Comments are left alone."""
    return len(line) > limit and line not in old and not line.lstrip().startswith("#")


def _on_lines(tree: ast.Module, long: Collection[int]) -> dict[int, list[Bracketed]]:
    """For each line what has brackets and stands on it alone, the widest first; nothing within f-strings."""
    found: dict[int, list[Bracketed]] = {}
    quoted: set[int] = set()
    for node in _across(tree, sorted(long)):
        if isinstance(node, ast.JoinedStr):
            quoted.update(id(inner) for inner in subtree(node))
        elif isinstance(node, Bracketed) and node.lineno - 1 in long and node.end_lineno == node.lineno:
            found.setdefault(node.lineno - 1, []).append(node)
    return {
        number: sorted((n for n in nodes if id(n) not in quoted), key=lambda n: (-_width(n), n.col_offset))
        for number, nodes in found.items()
    }


def _across(tree: ast.Module, numbers: Sequence[int]) -> list[ast.AST]:
    """The nodes of a tree that stand on one of the lines, breadth first; `numbers`: in their order, from 0."""
    found: list[ast.AST] = [tree]
    for node in found:  # grows while it is walked
        for child in children(node):
            first = getattr(child, "lineno", None)  # arguments have none, and stand where what is in them does
            if first is not None:
                first = min([first, *(decorator.lineno for decorator in getattr(child, "decorator_list", ()))])
                next_one = bisect.bisect_left(numbers, first - 1)
                if next_one == len(numbers) or numbers[next_one] >= (child.end_lineno or first):  # type: ignore[attr-defined]
                    continue
            found.append(child)
    return found


@dataclasses.dataclass(frozen=True)
class _Breaker:
    """One long line: `nodes` are what has brackets on it and where these stand (see `_bounds`), the widest first."""

    source: SourceFile
    old: Container[str]
    limit: int
    line: str
    nodes: Sequence[tuple[Bracketed, list[int]]]

    def broken(self) -> str:
        """The lines in its place."""
        return "".join(f"{line}{self.source.newline}" for line in self._lines("", 0, len(self.line), "", _DEPTH))

    def _lines(self, before: str, start: int, end: int, after: str, depth: int) -> list[str]:
        """A part of the line, and what stands before and after it on a line of its own, broken where that is too long."""
        text = f"{before}{self.line[start:end]}{after}"
        if not depth or not _is_long(text, self.old, self.limit):
            return [text]
        # `merge(...)(x)`, where what is called is too long by itself: its own brackets may do.
        late = {n for n, bounds in self.nodes if _is_call_of_call(n) and len(before) + bounds[0] + 1 - start > self.limit}
        for node, bounds in sorted(self.nodes, key=lambda found: found[0] in late):
            if bounds[0] < start or bounds[-1] >= end:
                continue
            _, sign, comment = self.line[bounds[-1] : end].partition("#")  # a comment stays at the end
            if sign and (after or PRAGMA.match(sign + comment) or len(text) - len(sign + comment) <= self.limit):
                continue
            indent = text[: len(text) - len(text.lstrip())]
            alone = isinstance(node, ast.Tuple) and len(node.elts) == 1
            return [
                *self._lines(before, start, bounds[0] + 1, "", depth - 1),
                *self._between(bounds, indent, depth - 1, alone=alone),
                *self._lines(indent, bounds[-1], end, after, depth - 1),
            ]
        return [text]

    def _between(self, bounds: Sequence[int], indent: str, depth: int, *, alone: bool) -> list[str]:
        """The items between brackets; `alone`: they are a tuple of one item, which needs its comma."""
        step = self.source.indent_unit if len(self.source.indent_unit) != 2 else self.source.indent_unit * 2
        inner = indent + step
        spans = [self._stripped(a + 1, b) for a, b in itertools.pairwise(bounds)]
        whole = ", ".join(self.line[a:b] for a, b in spans)
        if len(inner) + len(whole) <= self.limit and not alone:
            return [inner + whole]
        return [line for a, b in spans for line in self._lines(inner, a, b, ",", depth)]

    def _stripped(self, start: int, end: int) -> tuple[int, int]:
        """An item without the white space around it, and without the comma behind the last one."""
        found = self.line[start:end]
        text = found.strip().removesuffix(",").rstrip()
        start += len(found) - len(found.lstrip())
        return start, start + len(text)


def _is_call_of_call(node: Bracketed) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Call)


def _width(node: Bracketed) -> int:
    assert node.end_col_offset is not None
    return node.end_col_offset - node.col_offset


def _bounds(node: Bracketed, line: str) -> list[int] | None:
    """Where the opening bracket stands, each comma between items, and the closing bracket."""
    encoded = line.encode() if not line.isascii() else None

    def at(offset: int) -> int:
        return offset if encoded is None else len(encoded[:offset].decode())

    items = _items(node)
    assert node.end_col_offset is not None
    last = at(node.end_col_offset) - 1
    first = at(node.func.end_col_offset or 0) if isinstance(node, ast.Call) else at(node.col_offset)
    opening = line.find("([{"["([{".find(line[first])] if line[first] in "([{" else "(", first)
    if not items or opening < 0 or line[last] not in ")]}":
        return None
    spans = [(at(start), at(end)) for start, end in items]
    if opening >= spans[0][0]:  # a tuple without brackets
        return None
    commas = [line.find(",", end, start) for (_, end), (start, _) in itertools.pairwise(spans)]
    return None if any(comma < 0 for comma in commas) else [opening, *commas, last]


def _items(node: Bracketed) -> list[tuple[int, int]]:
    """Where the items between the brackets begin and end, in bytes of the line."""
    found: list[ast.expr | ast.keyword] = []
    if isinstance(node, ast.Call):
        if any(isinstance(argument, ast.GeneratorExp) for argument in node.args):
            return []
        found = sorted([*node.args, *node.keywords], key=lambda n: n.col_offset)
    elif isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return [((value if key is None else key).col_offset, value.end_col_offset or 0) for key, value in pairs]
    elif isinstance(node, ast.Tuple | ast.List | ast.Set):
        found = list(node.elts)
    return [(n.col_offset, n.end_col_offset or 0) for n in found]


__all__ = ["shortened"]
