"""Folders with an `__init__.py` that no program imports as a package: the top of a repository, from which it is run.

`from algorithms.ppo import train` in `repo/run.py`, beside `repo/__init__.py`, says that the folder `repo` is on the path,
and not the folder around it: nothing can be imported as `repo.algorithms` there. Import statements tell, those of all files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

# In source text and in the strings of a notebook. A name in a comment or docstring only keeps what was there.
_STATEMENT = re.compile(rb'(?:^|["\n;])[ \t]*(?:from[ \t]+(\.*)(\w*)|import[ \t]+()(\w+))(\.?)')


def only_folders(tops: Iterable[Path], texts: Mapping[Path, bytes], installed: Collection[str]) -> set[Path]:
    """Those of `tops`, the outermost packages of a project, that are only the folder from which it is run.

    What is `installed` is meant by its name, although a package may have a file called so.
    """
    open_tops = set(tops)
    by_name: dict[bytes, set[Path]] = {}
    for top in open_tops:
        by_name.setdefault(top.name.encode(), set()).add(top)
    inside = {top: _entries(top) for top in open_tops}
    for entries in inside.values():
        for name in installed:
            entries.pop(name.encode(), None)
    shown: set[Path] = set()
    for path, text in _with_neighbours(open_tops, texts):
        around = next((top for top in path.parents if top in open_tops), None)
        depth = len(path.parent.relative_to(around).parts) if around is not None else 0
        for dots, name, _, plain, dot in _STATEMENT.findall(text):
            if dots:
                if around is not None and len(dots) > depth and path != around / "__init__.py":
                    open_tops.discard(around)
                continue
            said = name or plain
            for top in by_name.get(said, ()):
                if not _can_mean(inside[top], said, dot):
                    open_tops.discard(top)
            if around is not None and _can_mean(inside[around], said, dot) and not _stands_in(path.parent, around, said):
                shown.add(around)
        if not open_tops:
            break
    return shown & open_tops


def _entries(top: Path) -> dict[bytes, bool]:
    """What can be imported where `top` is on the path: is it a folder?"""
    found: dict[bytes, bool] = {}
    try:
        for entry in os.scandir(top):
            if entry.is_dir() or entry.name.endswith(".py"):
                name = entry.name.removesuffix(".py").encode()
                found[name] = found.get(name, False) or entry.is_dir()
    except OSError:
        return {}
    return {name: is_folder for name, is_folder in found.items() if name not in (b"__init__", b"setup", b"conftest")}


def _can_mean(entries: Mapping[bytes, bool], name: bytes, dot: bytes) -> bool:
    """Can an import mean one of them? `net.parts` is nothing of a file `net.py`; it may lie in a package of that name."""
    return entries.get(name, False) if dot else name in entries


def _with_neighbours(tops: set[Path], texts: Mapping[Path, bytes]) -> Iterator[tuple[Path, bytes]]:
    """All files. A package's own say most of it, and none of the others is read once all `tops` are known to be packages."""
    first = sorted(tops)
    inside: dict[Path, list[Path]] = {top: [] for top in first}
    outside: list[Path] = []
    for path in texts:
        inside.get(next((top for top in path.parents if top in inside), path), outside).append(path)
    left = list(outside)
    for top in first:
        for place, path in enumerate(inside[top]):
            if top not in tops:
                left += inside[top][place:]
                break
            yield path, texts[path]
    for path in left:
        yield path, texts[path]
    for top in list(tops):
        for path in sorted(top.glob("*.py")):
            if path not in texts:
                try:
                    yield path, path.read_bytes()
                except OSError:
                    continue


def _stands_in(folder: Path, top: Path, name: bytes) -> bool:
    """Does a folder below `top` have something of that name, which a script there would find first?"""
    if folder == top:
        return False
    return (folder / f"{name.decode()}.py").exists() or (folder / name.decode()).is_dir()


__all__ = ["only_folders"]
