"""A project as it was before its migration, beside the project: code is copied, everything else is linked.

A project's folder may hold checkpoints and data sets of any size, and links that lead anywhere.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from fnmatch import fnmatch
from pathlib import Path

_COPIED = frozenset({".py", ".pyi", ".ipynb", ".toml", ".cfg", ".ini"})


def mirror(root: Path, target: Path, originals: Mapping[Path, bytes | None], skipped: Iterable[str]) -> None:
    """`root` in the new folder `target`, with `originals` in place of the files that a migration replaced.

    A file of `originals` that is None was made by the migration, and is left out. `skipped`: patterns of names. Links
    within the project lead to the same place of the mirror, others to where they led; broken ones are left out. Raises
    OSError where something cannot be read.
    """
    root, patterns = root.resolve(), tuple(skipped)
    for folder, directories, files in os.walk(root):
        here, there = Path(folder), target / Path(folder).relative_to(root)
        there.mkdir(parents=True, exist_ok=True)
        kept = [name for name in directories if not any(fnmatch(name, pattern) for pattern in patterns)]
        directories[:] = [name for name in kept if not (here / name).is_symlink()]
        links = [name for name in kept if (here / name).is_symlink()]
        for name in (*links, *files):
            if not any(fnmatch(name, pattern) for pattern in patterns):
                _put(here / name, there / name, root, target)
    for file, content in originals.items():
        place = target / file.resolve().relative_to(root)
        place.unlink(missing_ok=True)  # not through a link into the project
        if content is not None:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)


def _put(file: Path, place: Path, root: Path, target: Path) -> None:
    if not file.exists():
        return
    led = file.resolve()
    if file.is_symlink() and led.is_relative_to(root):
        led = target / led.relative_to(root)
    elif file.is_file() and file.suffix in _COPIED:
        shutil.copyfile(file, place)
        return
    try:
        place.symlink_to(led)
    except OSError:  # a file system without links
        if file.is_file():
            shutil.copyfile(file, place)


__all__ = ["mirror"]
