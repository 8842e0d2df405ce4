"""IPython's own syntax (`%magic`, `!shell`, `name?`) made Python during a rewrite and put back byte for byte."""

from __future__ import annotations

import re
from pathlib import Path

from .errors import InputError

# Cell magics whose body is Python that runs in the notebook's namespace.
_PYTHON_CELLS = frozenset({"time", "timeit", "capture", "prun", "debug"})
_ASSIGNED = re.compile(r"(\s*[A-Za-z_][\w.,\s\[\]'\"]*=\s*)([%!].*)", re.DOTALL)
_KEPT = re.compile(r"# nnx-migrate-(?:cell|magic)-\d+-")
_HELP = re.compile(r"\s*(\?{1,2}[\w.*%]+|%{0,2}[\w.*\[\]()'\"]+\?{1,2})\s*(;\s*)?(#.*)?")


def mask_cell(text: str, first: int = 0) -> tuple[str, dict[str, str]]:
    """As `mask`, for one notebook cell: a `%%magic` in its first line decides about the whole cell."""
    head = text.lstrip("\n")
    if head.startswith("%%"):
        name = re.match(r"%%(\w*)", head).group(1)  # type: ignore[union-attr]
        if name not in _PYTHON_CELLS:
            return _whole(text, first)
    return mask(text, first)


def opaque_cell(text: str, first: int = 0) -> tuple[str, dict[str, str]]:
    """A cell that is kept as it is, whatever it holds."""
    return _whole(text, first)


def mask(text: str, first: int = 0) -> tuple[str, dict[str, str]]:
    """(text with every magic line replaced by a statement, what stands for which original lines).

    Markers are numbered from `first`. Lines inside brackets or strings are never taken for magics.
    """
    restore: dict[str, str] = {}
    out: list[str] = []
    state = _State()
    lines = text.splitlines(keepends=True)
    index = 0
    while index < len(lines):
        line = lines[index]
        index += 1
        if state.open:
            state.feed(line)
            out.append(line)
            continue
        assigned = _ASSIGNED.fullmatch(line.rstrip("\r\n"))
        stripped = line.strip()
        if not (stripped.startswith(("%", "!")) or assigned or _HELP.fullmatch(line.rstrip("\r\n"))):
            state.feed(line)
            out.append(line)
            continue
        original = line
        while original.rstrip("\r\n").endswith("\\") and index < len(lines):
            original += lines[index]
            index += 1
        body = original.rstrip("\r\n")
        end = original[len(body) :]
        lead = assigned.group(1) if assigned else body[: len(body) - len(body.lstrip())]
        key = _key(first + len(restore))
        restore[key] = body[len(lead) :]
        out.append(f"{lead}{'()' if assigned else 'pass'}  {key}{end}")
    return "".join(out), restore


def restore(text: str, table: dict[str, str], path: Path) -> str:
    """Put the originals back. Raises InputError where a rewrite has lost or doubled one."""
    for key, original in table.items():
        for statement in ("pass", "()"):
            text = text.replace(f"{statement}  {key}", key)
        if text.count(key) != 1:
            raise InputError(path, "NNX001", f"the rewrite would lose the line {original!r}; it was dropped")
        text = text.replace(key, original)
    return text


def _whole(text: str, first: int) -> tuple[str, dict[str, str]]:
    key = _key(first)
    return f"pass  {key}", {key: text}


def _key(number: int) -> str:
    return f"# nnx-migrate-magic-{number}-"


def lines_kept(text: str) -> list[str]:
    """The comments that stand for magic lines and for the beginnings of cells, which no rewrite may lose, move or double."""
    return _KEPT.findall(text)


class _State:
    """Whether a line begins inside brackets or a string that an earlier line opened."""

    def __init__(self) -> None:
        self.depth = 0
        self.quote = ""
        self.continued = False

    @property
    def open(self) -> bool:
        return self.depth > 0 or bool(self.quote) or self.continued

    def feed(self, line: str) -> None:
        self.continued = False
        index = 0
        while index < len(line):
            char = line[index]
            if self.quote:
                if char == "\\":
                    index += 1
                elif line.startswith(self.quote, index):
                    index += len(self.quote) - 1
                    self.quote = ""
            elif char == "#":
                return
            elif char in "\"'":
                self.quote = char * 3 if line.startswith(char * 3, index) else char
                index += len(self.quote) - 1
            elif char in "([{":
                self.depth += 1
            elif char in ")]}":
                self.depth = max(0, self.depth - 1)
            index += 1
        if len(self.quote) == 1 and not line.rstrip("\r\n").endswith("\\"):
            self.quote = ""  # an unterminated one-line string is an error of that line only
        self.continued = not self.quote and line.rstrip("\r\n").endswith("\\")
