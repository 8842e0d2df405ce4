"""The guard of uncommitted work: a run that would write into a dirty repository is refused."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path


def repository_of(path: Path) -> Path | None:
    """Top of the git work tree around `path`, without asking git."""
    absolute = Path(os.path.realpath(path))
    return next((p for p in (absolute, *absolute.parents) if (p / ".git").exists()), None)


def dirty(paths: Iterable[Path]) -> dict[Path, list[str]]:
    """Repositories of `paths` with uncommitted changes to tracked files → those files. Git absent counts as clean."""
    found: dict[Path, list[str]] = {}
    for top in sorted({top for path in paths if (top := repository_of(path)) is not None}):
        # The repository's own configuration must not make git run anything.
        command = ["git", "-c", "core.fsmonitor=false", "-C", str(top), "status", "--porcelain", "-z", "-uno"]
        try:
            done = subprocess.run(command, capture_output=True, timeout=60, check=False)
        except (OSError, subprocess.TimeoutExpired):
            continue
        entries = [entry[3:] for entry in done.stdout.decode(errors="replace").split("\0") if len(entry) > 3]
        if done.returncode == 0 and entries:
            found[top] = entries
    return found
