"""Where the generated `linen_parity.py` goes, and what goes into it: the parts that the files' new text uses."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ...context import FileContext
from . import parity


def parity_path(context: FileContext) -> Path:
    """The module stands at the top of the file's package, and beside a script."""
    path = context.source.path
    depth = context.source.module.count(".") + (1 if context.source.is_package else 0)
    folder = path.parent
    if context.is_script:
        return folder / "linen_parity.py"
    for _ in range(depth - 1):
        folder = folder.parent
    return folder / "linen_parity.py"


def parity_files(contexts: Mapping[str, FileContext]) -> dict[Path, str]:
    """The text of every parity module by path. Parts that an earlier run wrote stay.

    Raises `parity.NotGenerated` where a file of that name was not written by this tool.
    """
    wanted: dict[Path, set[str]] = {}
    for context in contexts.values():
        if context.parity_parts:
            wanted.setdefault(parity_path(context), set()).update(context.parity_parts)
    texts = {context.source.path: context.source.text for context in contexts.values()}
    return {path: parity.render(names, texts.get(path)) for path, names in wanted.items()}
