"""The changes of a run as one patch that `git apply` and `patch -p1` take."""

from __future__ import annotations

import os
from pathlib import Path

from .linediff import unified
from .model import FileReport, RunReport

_MISSING_END = b"\n\\ No newline at end of file\n"


def patch(report: RunReport, directory: Path) -> bytes:
    """A unified diff with names relative to `directory`, where it is to be applied."""
    return b"".join(file_patch(file, directory) for file in report.changed)


def file_patch(file: FileReport, directory: Path) -> bytes:
    """The part of one changed file; bytes of any encoding and any line end go through as they are."""
    assert file.after is not None
    name = os.path.relpath(os.path.abspath(file.path), os.path.abspath(directory)).replace(os.sep, "/")
    old = _label(f"a/{name}") if file.before is not None else b"/dev/null"
    out = [b"--- " + old + b"\n", b"+++ " + _label(f"b/{name}") + b"\n"]
    # latin-1 maps every byte to one character, so the diff is one of bytes.
    before = _lines(file.before or b"")
    after = _lines(file.after)
    for line in unified(before, after):
        data = line.encode("latin-1")
        out.append(data if data.endswith(b"\n") else data + _MISSING_END)
    return b"".join(out)


def _lines(data: bytes) -> list[str]:
    lines = data.decode("latin-1").split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _label(name: str) -> bytes:
    """A file name as git writes it: in quotes where it has special characters, a tab behind one with blanks."""
    if any(char in '"\\' or ord(char) < 32 for char in name):
        escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
        return b'"' + escaped.encode() + b'"'
    return name.encode() + (b"\t" if " " in name else b"")
