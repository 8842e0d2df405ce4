"""Bytes of a file ↔ the plain Python text that is analysed and rewritten; everything untouched keeps its bytes."""

from __future__ import annotations

import ast
import codecs
import io
import sys
import tokenize
from pathlib import Path
from typing import Protocol

from ..trees import parse_text
from . import magics
from .errors import InputError


class Document(Protocol):
    """One input file. `text` is Python that parses; `encode(text) == data` for the text as it was."""

    path: Path
    data: bytes
    text: str
    tree: ast.Module

    def encode(self, text: str) -> bytes:
        """The file's bytes with `text` in place of what it held. Raises InputError where that cannot be."""
        ...

    def locate(self, line: int) -> tuple[int | None, int]:
        """(number of the notebook cell from 1, line in it) of a line of `text`; (None, line) where there are none."""
        ...

    def problems(self) -> list[InputError]:
        """Parts that were set aside (notebook cells that do not parse), the rest being usable."""
        ...


class PythonDocument:
    """A Python file: any declared encoding, byte order mark, line ends; percent scripts with raw magics too."""

    def __init__(self, path: Path, data: bytes) -> None:
        """Raises InputError where the bytes are not text in the declared encoding, or not Python."""
        self.path = path
        self.data = data
        self.encoding, self.bom = _encoding(path, data)
        try:
            text = data[len(self.bom) :].decode(self.encoding)
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
            raise InputError(
                path,
                "NNX003",
                f"is not {self.encoding}: byte 0x{data[error.start]:02x} at offset {error.start} (line {line})",
                "Save it as UTF-8, or declare its encoding in the first line (PEP 263).",
                line,
            ) from error
        # What is put after the last line has to begin a line of its own; `encode` takes the line end away again.
        self._added = ("\r\n" if "\r\n" in text else "\n") if text and text[-1] not in "\r\n" else ""
        text += self._added
        self._restore: dict[str, str] = {}
        try:
            self.tree = parse_text(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            masked, self._restore = magics.mask(text) if "# %%" in text else (text, {})
            try:
                if not self._restore:
                    raise error
                self.tree = parse_text(masked)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                raise _unparsable(path, error) from error
            text = masked
        self.text = text

    def encode(self, text: str) -> bytes:
        restored = magics.restore(text, self._restore, self.path) if self._restore else text
        if self._added:
            restored = restored.removesuffix(self._added)
        try:
            return self.bom + restored.encode(self.encoding)
        except UnicodeEncodeError as error:
            raise InputError(
                self.path,
                "NNX001",
                f"the rewritten text has {error.object[error.start]!r}, which {self.encoding} cannot hold",
                "Save the file as UTF-8 first.",
            ) from error

    def locate(self, line: int) -> tuple[int | None, int]:
        return None, line

    def problems(self) -> list[InputError]:
        return []


def _encoding(path: Path, data: bytes) -> tuple[str, bytes]:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError as error:
        if "invalid or missing encoding" in str(error):  # bytes that are not UTF-8: the decoder says where
            return "utf-8", b""
        help = "Correct the encoding declaration."
        raise InputError(path, "NNX003", f"has an unusable encoding declaration: {error}", help) from error
    if encoding == "utf-8-sig":
        return "utf-8", codecs.BOM_UTF8
    return encoding, b""


def _unparsable(path: Path, error: BaseException) -> InputError:
    line = getattr(error, "lineno", None) or 1
    column = getattr(error, "offset", None) or 1
    message = getattr(error, "msg", None) or str(error) or type(error).__name__
    here = ".".join(map(str, sys.version_info[:2]))
    help = f"Correct the syntax; where it is that of a newer Python than {here}, run nnx-migrate with that one."
    return InputError(path, "NNX002", f"does not parse: {message}", help, line, max(column, 1))


def read_document(path: Path, data: bytes) -> Document:
    """The document of a file by its suffix. Raises InputError."""
    if path.suffix == ".ipynb":
        from .notebooks import NotebookDocument

        return NotebookDocument(path, data)
    return PythonDocument(path, data)
