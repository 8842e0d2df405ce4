"""What a run replaced, kept so that it can be undone, and so that `verify` knows what was there before.

`.nnx-migrate/` in the project's root holds one directory per run: `manifest.json` (the files with the SHA-256 of their
bytes before and after), `originals/<sha256>` and the run's JSON report, `report.json`. It is written
whole before the first file is replaced, so a run that was killed half-way can be undone as well.
"""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import json
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from .atomic import write_atomic

DIRECTORY = ".nnx-migrate"
_RUN = re.compile(r"\d{8}T\d{6}Z-\d+")


class JournalError(Exception):
    """The journal is missing, damaged, or does not fit the files any more; the message says which and what to do."""


@dataclasses.dataclass(frozen=True)
class Entry:
    """One replaced file. `before` is None where the run created it; hashes are SHA-256 in hex."""

    path: str  # relative to the root, with forward slashes
    before: str | None
    after: str


@dataclasses.dataclass(frozen=True)
class Journal:
    """One recorded run."""

    root: Path
    directory: Path
    time: str
    entries: tuple[Entry, ...]

    def path_of(self, entry: Entry) -> Path:
        return self.root / entry.path

    def original(self, entry: Entry) -> bytes | None:
        """The bytes before the run, None where the file did not exist. Raises JournalError where they are damaged."""
        if entry.before is None:
            return None
        stored = self.directory / "originals" / entry.before
        try:
            data = stored.read_bytes()
        except OSError as error:
            raise JournalError(f"{stored}: the original of {entry.path} cannot be read: {error.strerror}") from error
        if _hash(data) != entry.before:
            raise JournalError(f"{stored}: the original of {entry.path} is damaged (its hash differs)")
        return data

    @property
    def report(self) -> Path | None:
        """The JSON report of the run, where it was kept."""
        path = self.directory / "report.json"
        return path if path.is_file() else None

    @property
    def originals(self) -> dict[Path, bytes | None]:
        """Absolute path → bytes before the run (None: the run created the file)."""
        return {self.path_of(entry): self.original(entry) for entry in self.entries}


def project_root(paths: list[Path]) -> Path:
    """Where the journal of a run over `paths` lives: the git work tree, else the project file's directory, else the
    directory that holds them all."""
    real = [Path(os.path.realpath(path)) for path in paths]
    common = Path(os.path.commonpath([path if path.is_dir() else path.parent for path in real]))
    chain = (common, *common.parents)
    for marker in (".git", "pyproject.toml"):
        for parent in chain:
            if (parent / marker).exists():
                return parent
    return common


def record(
    root: Path, changes: Mapping[Path, tuple[bytes | None, bytes]], *, tool: str, report: str | None = None
) -> Journal:
    """Keep the originals of `changes` (path → bytes before and after), and the JSON report, before any file is written."""
    base = root / DIRECTORY
    base.mkdir(exist_ok=True)
    guard = base / ".gitignore"
    if not guard.exists():
        guard.write_text("*\n")
    stamp = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%SZ")
    numbers = [int(run.name.rpartition("-")[2]) for run in _runs(root)]
    directory = base / f"{stamp}-{max(numbers, default=0) + 1}"
    store = directory / "originals"
    store.mkdir(parents=True)
    entries = []
    for path, (before, after) in sorted(changes.items()):
        if before is not None:
            write_atomic(store / _hash(before), before, mode=0o600)
        real = Path(os.path.realpath(path))
        entries.append(Entry(real.relative_to(root).as_posix(), _hash(before) if before is not None else None,
                             _hash(after)))  # fmt: skip
    manifest = {
        "version": 1,
        "tool": tool,
        "time": stamp,
        "files": [dataclasses.asdict(entry) for entry in entries],
    }
    if report is not None:
        write_atomic(directory / "report.json", report.encode())
    write_atomic(directory / "manifest.json", json.dumps(manifest, indent=1).encode())
    return Journal(root, directory, stamp, tuple(entries))


def find_root(path: Path) -> Path | None:
    """The nearest directory at or above `path` with a journal."""
    real = Path(os.path.realpath(path))
    return next((p for p in (real, *real.parents) if _runs(p)), None)


def last_run(root: Path) -> Journal | None:
    """The most recent run recorded in `root`, None where there is none. Raises JournalError where it is damaged."""
    runs = _runs(root)
    if not runs:
        return None
    directory = runs[-1]
    try:
        manifest = json.loads((directory / "manifest.json").read_text())
        entries = tuple(Entry(e["path"], e["before"], e["after"]) for e in manifest["files"])
        time = str(manifest["time"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise JournalError(f"{directory / 'manifest.json'}: damaged: {error}") from error
    for entry in entries:
        if Path(entry.path).is_absolute() or ".." in Path(entry.path).parts:
            raise JournalError(f"{directory / 'manifest.json'}: refuses the path {entry.path}: it leads out of {root}")
    return Journal(root, directory, time, entries)


def undo(journal: Journal, *, force: bool = False) -> list[tuple[Path, str]]:
    """Put every file back as it was before the run: all of them, or none. Returns (path, `restored` | `removed`).

    Raises JournalError where a file was changed since, unless `force`.
    """
    plan: list[tuple[Path, bytes | None]] = []
    changed: list[str] = []
    for entry in journal.entries:
        path = journal.path_of(entry)
        current = path.read_bytes() if path.is_file() else None
        state = _hash(current) if current is not None else None
        if state == entry.before:
            continue  # never written, or put back already
        if state != entry.after and not force:
            changed.append(entry.path)
            continue
        plan.append((path, journal.original(entry)))
    if changed:
        raise JournalError(
            "changed since the migration: " + ", ".join(changed) + "; nothing was undone. Commit or remove these "
            "changes, or give --force to lose them."
        )
    done = []
    for path, data in plan:
        if data is None:
            path.unlink()
            done.append((path, "removed"))
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(path, data)
            done.append((path, "restored"))
    shutil.rmtree(journal.directory)
    return done


def _runs(root: Path) -> list[Path]:
    base = root / DIRECTORY
    try:
        runs = [run for run in base.iterdir() if _RUN.fullmatch(run.name) and (run / "manifest.json").exists()]
    except OSError:
        return []
    return sorted(runs, key=lambda run: int(run.name.rpartition("-")[2]))


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
