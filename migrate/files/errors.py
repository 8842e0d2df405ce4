"""What can be wrong with one input: it is reported and the others go on."""

from __future__ import annotations

from pathlib import Path


class InputError(Exception):
    """One path that cannot be migrated. `code` is documented by `nnx-migrate explain`."""

    def __init__(self, path: Path, code: str, message: str, help: str = "", line: int = 1, column: int = 1) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.code = code
        self.message = message
        self.help = help
        self.line = line
        self.column = column
