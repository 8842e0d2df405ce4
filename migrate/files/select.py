"""The cheap filter before parsing: bytes only, so that a large tree costs next to nothing."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path

_LINEN = re.compile(rb"linen(?!o)")  # `lineno` is not meant
_RELEVANT = re.compile(rb"flax|jax|linen(?!o)")
_IMPORT = re.compile(rb"^\s*(?:from|import)\s", re.MULTILINE)
_CLASS = re.compile(rb"^[ \t]*class[ \t]+(\w+)[ \t]*\(([^)]*)", re.MULTILINE)
_FUNCTION = re.compile(rb"^def[ \t]+(\w+)", re.MULTILINE)
_WORD = re.compile(rb"[^\W\d]\w*")
_TOO_COMMON = frozenset({b"main", b"train", b"test", b"run", b"init", b"apply", b"setup", b"forward", b"evaluate"})


def select(contents: Mapping[Path, bytes], named: Collection[Path] = ()) -> set[Path]:
    """The files that a run must see.

    Those that the user `named`, those that say flax, linen or jax, and those that import and use what Linen files
    define (a script with `from model import Net`), through any number of steps.
    """
    kept = {path for path, data in contents.items() if path in named or _RELEVANT.search(data)}
    names: set[bytes] = set()
    for path in kept:
        data = contents[path]
        if _LINEN.search(data):
            names.update(match.group(1) for match in _CLASS.finditer(data))
            names.update(_FUNCTION.findall(data))
    names -= _TOO_COMMON
    rest = {path: None for path in contents if path not in kept}
    words: dict[Path, frozenset[bytes]] = {}
    while names and rest:
        found = []
        for path in rest:
            data = contents[path]
            if path not in words:
                words[path] = frozenset(_WORD.findall(data)) if _imports(path, data) else frozenset()
            if not names.isdisjoint(words[path]):
                found.append(path)
        if not found:
            break
        for path in found:
            del rest[path]
            kept.add(path)
            for match in _CLASS.finditer(contents[path]):
                if not names.isdisjoint(_WORD.findall(match.group(2))):
                    names.add(match.group(1))
    return kept


def _imports(path: Path, data: bytes) -> bool:
    return path.suffix == ".ipynb" or _IMPORT.search(data) is not None
