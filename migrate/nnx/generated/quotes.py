"""Strings that the migration writes have the quotes that the file's own strings have, as Black leaves them."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator

from ...source import SourceFile

_PLAIN = re.compile(r"'[^'\"\\\n]*'")  # in single quotes, which others may stand for as they are
_MANY = 8  # double-quoted strings to one in single quotes: the file's way


def quoted(source: SourceFile, text: str) -> str:
    """The new text of a file that says its strings in double quotes, with those in them that came with the rewrite."""
    old = set(source.text.splitlines())
    if not any("'" in line and line not in old for line in text.splitlines()):
        return text
    own = list(_strings(source.text))
    single = {said for _, said in own if said.startswith("'")}
    double = sum(said.startswith('"') and not said.startswith('"""') for _, said in own)
    if double < _MANY * max(1, sum(said.startswith("'") for _, said in own)):
        return text
    lines = io.StringIO(text).readlines()
    for (row, column), said in _strings(text):
        line = lines[row - 1]
        if said not in single and _PLAIN.fullmatch(said) and line.rstrip("\r\n") not in old:
            lines[row - 1] = f'{line[:column]}"{said[1:-1]}"{line[column + len(said) :]}'
    return "".join(lines)


def _strings(text: str) -> Iterator[tuple[tuple[int, int], str]]:
    """Where strings stand, and how they are written; none within f-strings."""
    within = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            kind = tokenize.tok_name[token.type]
            within += kind.endswith("STRING_START") - kind.endswith("STRING_END")
            if kind == "STRING" and not within:
                yield token.start, token.string
    except (tokenize.TokenError, IndentationError):
        return
