"""Comments that keep the tool away: `# nnx-migrate: ignore[NNX123]` and `# nnx-migrate: skip-file`."""

from __future__ import annotations

import ast
import re

_IGNORE = re.compile(r"#\s*nnx-migrate:\s*ignore(?:\[([^\]]*)\])?")
_SKIP = re.compile(r"^[ \t]*#\s*nnx-migrate:\s*skip-file\b", re.MULTILINE)


def skips_file(text: str) -> bool:
    """Does a comment on a line of its own ask to leave the whole file alone?"""
    return "nnx-migrate:" in text and _SKIP.search(text) is not None


class Suppressions:
    """The `ignore` comments of one file by line. A comment on a line of its own is about the next line."""

    def __init__(self, text: str) -> None:
        self._by_line: dict[int, tuple[str, ...]] = {}
        if "nnx-migrate:" not in text:
            return
        for number, line in enumerate(text.split("\n"), 1):
            match = _IGNORE.search(line)
            if match:
                codes = tuple(code.strip() for code in (match.group(1) or "").split(",") if code.strip())
                target = number + 1 if not line[: match.start()].strip() else number
                self._by_line[target] = self._by_line.get(target, ()) + (codes or ("",))

    def __bool__(self) -> bool:
        return bool(self._by_line)

    def covers(self, node: ast.AST, code: str) -> bool:
        """Is `code` (a code, or any where the comment names none) switched off on one of the node's lines?

        For a class, function or other block those are the lines of its head.
        """
        if not self._by_line or not hasattr(node, "lineno"):
            return False
        first = node.lineno
        last = getattr(node, "end_lineno", None) or first
        body = getattr(node, "body", None)
        if isinstance(body, list) and body:
            last = max(first, body[0].lineno - 1)
        return any(
            code.startswith(prefix)
            for line, prefixes in self._by_line.items()
            if first <= line <= last
            for prefix in prefixes
        )
