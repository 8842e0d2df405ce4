"""Lines that became too long are broken within their brackets, as Black would: all between the brackets on a line of its
own where it fits, else one item a line.

Only lines that the file did not have before, and only white space within brackets and a comma behind the last item change.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence

from ...source import SourceFile
from ...trees import parse_text, subtree

_LEAST, _MOST = 100, 120  # characters that a line may have: as many as the file's own, within these
_WORTH = 40  # characters of brackets that are worth breaking
_ROUNDS = 4  # brackets within brackets


def shortened(source: SourceFile, text: str) -> str:
    """The new text of a file, with its long lines broken; as it is where that would not be the same program."""
    old = set(source.text.splitlines())
    limit = max(_LEAST, min(_MOST, max(map(len, old), default=0)))
    if not _long_lines(text.splitlines(), old, limit):
        return text
    broken, tree = text, parse_text(text)
    same = ast.dump(tree)
    for _ in range(_ROUNDS):
        lines = broken.splitlines(keepends=True)
        changes = list(_changes(tree, lines, _long_lines(broken.splitlines(), old, limit), limit, source))
        if not changes:
            break
        for number, line in changes:
            lines[number] = line
        broken = "".join(lines)
        try:
            tree = parse_text(broken)
        except SyntaxError:  # brackets that are not what they seemed
            return text
    return broken if broken != text and ast.dump(tree) == same else text


def _long_lines(lines: Sequence[str], old: set[str], limit: int) -> set[int]:
    """Numbers of lines, from 0, that are new and too long; comments are left alone."""
    return {n for n, line in enumerate(lines) if len(line) > limit and line not in old and not line.lstrip().startswith("#")}


def _changes(
    tree: ast.Module, lines: Sequence[str], long: set[int], limit: int, source: SourceFile
) -> Iterator[tuple[int, str]]:
    """For each long line that can be broken its number and the lines in its place."""
    quoted = {id(inner) for node in subtree(tree) if isinstance(node, ast.JoinedStr) for inner in subtree(node)}
    on_line: dict[int, list[ast.expr]] = {}
    for node in subtree(tree):
        if not isinstance(node, ast.Call | ast.Tuple | ast.List | ast.Set | ast.Dict) or id(node) in quoted:
            continue
        if node.lineno - 1 in long and node.end_lineno == node.lineno:
            on_line.setdefault(node.lineno - 1, []).append(node)
    for number in sorted(on_line):
        line = lines[number].rstrip("\r\n")
        ranked = sorted(on_line[number], key=lambda n: (-_width(n), n.col_offset))
        for node in ranked:
            pieces = _pieces(node, line) if _width(node) >= _WORTH else None
            if pieces is not None and "#" not in pieces[2]:
                alone = isinstance(node, ast.Tuple) and len(node.elts) == 1
                yield number, _broken(line, *pieces, limit, source, alone=alone)
                break


def _width(node: ast.expr) -> int:
    assert node.end_col_offset is not None
    return node.end_col_offset - node.col_offset


def _pieces(node: ast.expr, line: str) -> tuple[str, list[str], str] | None:
    """What stands before the brackets and up to them, the items within, and what follows from the closing bracket on."""
    encoded = line.encode()

    def at(offset: int) -> int:
        return len(encoded[:offset].decode())

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
    if any(comma < 0 for comma in commas):
        return None
    bounds = [opening, *commas, last]
    parts = [line[a + 1 : b].strip() for a, b in itertools.pairwise(bounds)]
    parts[-1] = parts[-1].removesuffix(",").rstrip()
    return line[: opening + 1], parts, line[last:]


def _items(node: ast.expr) -> list[tuple[int, int]]:
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


def _broken(line: str, head: str, items: list[str], tail: str, limit: int, source: SourceFile, *, alone: bool) -> str:
    """The lines in the place of one; `alone`: it is a tuple of one item, which needs its comma."""
    indent = line[: len(line) - len(line.lstrip())]
    step = source.indent_unit if len(source.indent_unit) != 2 else source.indent_unit * 2
    inner, newline = indent + step, source.newline
    whole = ", ".join(items)
    if len(inner) + len(whole) <= limit and not alone:
        return f"{head}{newline}{inner}{whole}{newline}{indent}{tail}{newline}"
    return head + newline + "".join(f"{inner}{item},{newline}" for item in items) + f"{indent}{tail}{newline}"


__all__ = ["shortened"]
