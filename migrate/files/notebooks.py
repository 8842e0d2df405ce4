"""Jupyter notebooks: the code cells as one Python text, and back, changing only the `source` of cells that changed."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

from ..trees import parse_text
from . import magics
from .errors import InputError
from .json_spans import Value, scan

_CELL = "# nnx-migrate-cell-{}-"
_CELL_LINE = re.compile(r"^# nnx-migrate-cell-(\d+)-\r?\n", re.MULTILINE)


class NotebookDocument:
    """A notebook. Cells are joined in order behind marker comments; outputs and metadata are never touched."""

    def __init__(self, path: Path, data: bytes) -> None:
        """Raises InputError where the bytes are not a notebook."""
        self.path = path
        self.data = data
        try:
            self._json = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InputError(path, "NNX003", f"is not UTF-8: offset {error.start}", "Save it as UTF-8.") from error
        self._bom = data[: len(data) - len(self._json.encode())]
        try:
            root = scan(self._json)
        except (ValueError, RecursionError) as error:
            raise InputError(path, "NNX004", f"is not JSON: {error}", "Open and save it in Jupyter.") from error
        cells = root.get("cells") if root.kind == "object" else None
        if cells is None or cells.kind != "array":
            worksheets = root.kind == "object" and root.get("worksheets") is not None
            message = "is a notebook of format 3" if worksheets else "is JSON but not a notebook: it has no list `cells`"
            raise InputError(path, "NNX004", message, "Convert it with `jupyter nbconvert --to notebook`.")
        self._problems: list[InputError] = []
        self._restore: dict[str, str] = {}
        self._sources: dict[int, Value] = {}
        self._originals: dict[int, str] = {}
        if _is_python(root):
            self._collect(cells)
        self.text = "".join(
            f"{_CELL.format(number)}\n{text}\n" for number, text in sorted(self._masked(self._originals).items())
        )
        try:
            self.tree: ast.Module = parse_text(self.text)
        except (SyntaxError, ValueError, RecursionError) as error:
            raise InputError(path, "NNX002", f"does not parse: {error}", "Correct the cell.") from error
        self._pieces = self._split(self.text)

    def _collect(self, cells: Value) -> None:
        for number, cell in enumerate(cells.items, 1):
            if cell.kind != "object":
                continue
            kind, source = cell.get("cell_type"), cell.get("source")
            if kind is None or source is None or json.loads(kind.raw(self._json)) != "code":
                continue
            value = json.loads(source.raw(self._json))
            text = "".join(value) if isinstance(value, list) else value
            if isinstance(text, str):
                self._sources[number] = source
                self._originals[number] = text

    def _masked(self, originals: dict[int, str]) -> dict[int, str]:
        masked: dict[int, str] = {}
        for number, text in originals.items():
            plain, restore = text, dict[str, str]()
            try:
                if _CELL_LINE.search(text + "\n"):
                    raise SyntaxError("the cell holds a marker of this tool")
                parse_text(text)
            except (SyntaxError, ValueError, RecursionError):
                plain, restore = magics.mask_cell(text, len(self._restore))
                try:
                    parse_text(plain)
                except (SyntaxError, ValueError, RecursionError) as error:
                    plain, restore = magics.opaque_cell(text, len(self._restore))
                    self._problems.append(
                        InputError(
                            self.path,
                            "NNX005",
                            f"cell {number} does not parse and was left as it is: {getattr(error, 'msg', error)}",
                            "Correct the cell, or migrate it by hand.",
                            number,
                        )
                    )
            self._restore.update(restore)
            masked[number] = plain
        return masked

    @staticmethod
    def _split(text: str) -> dict[int, str]:
        """Text of each cell by number, markers taken off."""
        parts = _CELL_LINE.split(text)
        return {int(number): body for number, body in zip(parts[1::2], parts[2::2])}

    def encode(self, text: str) -> bytes:
        if text == self.text:
            return self.data
        pieces = self._split(text)
        if list(pieces) != list(self._pieces) or not _CELL_LINE.match(text):
            raise InputError(self.path, "NNX001", "the rewrite would move code across cells; it was dropped")
        changes: list[tuple[int, int, str]] = []
        for number, body in pieces.items():
            if body == self._pieces[number]:
                continue
            table = {key: value for key, value in self._restore.items() if key in self._pieces[number]}
            new = magics.restore(body.removesuffix("\n"), table, self.path)
            source = self._sources[number]
            changes.append((source.start, source.end, _render(self._json, source, new)))
        out, at = [], 0
        for start, end, new in sorted(changes):
            out += [self._json[at:start], new]
            at = end
        return self._bom + "".join([*out, self._json[at:]]).encode()

    def locate(self, line: int) -> tuple[int | None, int]:
        cell, start = None, 0
        for index, content in enumerate(self.text.splitlines(), 1):
            if index > line:
                break
            match = _CELL_LINE.match(content + "\n")
            if match:
                cell, start = int(match.group(1)), index
        return cell, max(line - start, 1)

    def problems(self) -> list[InputError]:
        return self._problems


def _is_python(root: Value) -> bool:
    """Is the notebook's language Python, or not said?"""
    metadata = root.get("metadata")
    if metadata is None or metadata.kind != "object":
        return True
    for section, key in (("language_info", "name"), ("kernelspec", "language")):
        holder = metadata.get(section)
        value = holder.get(key) if holder is not None and holder.kind == "object" else None
        if value is not None and value.value is not None:
            return str(value.value).lower() in ("python", "ipython", "python3")
    return True


def _render(text: str, old: Value, new: str) -> str:
    """`new` as JSON in the style of the value that it replaces; lines that stay keep their very characters."""
    ascii_only = text.isascii()

    def dump(value: str) -> str:
        return json.dumps(value, ensure_ascii=ascii_only)

    if old.kind == "string":
        return dump(new)
    lines = re.findall(r"[^\n]*\n|[^\n]+", new)
    raw: dict[Any, str] = {json.loads(item.raw(text)): item.raw(text) for item in old.items}
    first, last = old.items[0], old.items[-1]
    lead, tail = text[old.start + 1 : first.start], text[last.end : old.end - 1]
    between = text[first.end : old.items[1].start] if len(old.items) > 1 else f",{lead or ' '}"
    return f"[{lead}{between.join(raw.get(line, dump(line)) for line in lines)}{tail}]" if lines else "[]"
