"""Classes that configuration files construct by name: hydra's `_target_: package.networks.MLPTorso`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from .errors import InputError
from .walk import walk

_SUFFIXES = (".yaml", ".yml")
_TARGET = re.compile(r"""^[ \t]*(?:- +)?_target_[ \t]*:[ \t]*["']?([A-Za-z_][\w.]*)""", re.MULTILINE)


def made_by_configurations(
    paths: Iterable[Path], contents: Iterable[bytes], excluded: Callable[[Path], bool]
) -> dict[str, str]:
    """What the YAML files below `paths` construct, each with a place; nothing where no file of `contents` says hydra."""
    if not any(b"hydra" in data for data in contents):
        return {}
    unreadable: list[InputError] = []  # told by the walk that reads Python files
    found: dict[str, str] = {}
    for file in walk(paths, excluded, unreadable, _SUFFIXES):
        if not file.path.name.endswith(_SUFFIXES):
            continue
        try:
            text = file.path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        for match in _TARGET.finditer(text):
            found.setdefault(match[1], f"{file.path.name}:{text.count(chr(10), 0, match.start(1)) + 1}")
    return found


__all__ = ["made_by_configurations"]
