"""Which files a run looks at: Python files and notebooks below the paths given, as git would see them."""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import InputError

if TYPE_CHECKING:
    import pathspec

SUFFIXES = (".py", ".ipynb")
# Never entered on the way; a path inside one of them can still be named explicitly.
_SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages", "dist-packages"})


@dataclasses.dataclass(frozen=True)
class Found:
    """A file to look at; `path` is as the user would write it."""

    path: Path
    named: bool  # by the user, so it is read whatever it holds


def walk(
    paths: Iterable[Path],
    excluded: Callable[[Path], bool],
    errors: list[InputError],
    suffixes: tuple[str, ...] = SUFFIXES,
) -> Iterator[Found]:
    """Every file below `paths`, each once, in a stable order; what cannot be read goes to `errors`.

    Hidden directories, virtual environments, installed packages and what git ignores and does not track are left out below
    a directory, but not where they are named. Symbolic links are followed for a path that is named, never below it.
    """
    seen: set[str] = set()
    for path in paths:
        if path.is_file():
            real = os.path.realpath(path)
            if real not in seen:
                seen.add(real)
                yield Found(path, True)
        elif path.is_dir():
            for found in _walk_directory(path, excluded, errors, suffixes):
                real = os.path.realpath(found.path)
                if real not in seen:
                    seen.add(real)
                    yield found
        elif path.exists():
            errors.append(InputError(path, "NNX003", "is neither a file nor a directory", "Name files or directories."))
        else:
            errors.append(InputError(path, "NNX003", "no such file or directory", "Check the path."))


def _walk_directory(
    root: Path, excluded: Callable[[Path], bool], errors: list[InputError], suffixes: tuple[str, ...]
) -> Iterator[Found]:
    stack: list[tuple[Path, tuple[_Ignore, ...]]] = [(root, _ignores_above(root))]
    tracked = _Tracked(root, suffixes)
    while stack:
        directory, ignores = stack.pop()
        try:
            with os.scandir(directory) as entries:
                children = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            help = "Make it readable, or exclude it."
            errors.append(InputError(directory, "NNX003", f"cannot list the directory: {error.strerror}", help))
            continue
        names = {child.name for child in children}
        if directory != root and "pyvenv.cfg" in names:
            continue
        if ".gitignore" in names:
            ignores = (*ignores, *_load_ignore(directory))
        below: list[tuple[Path, tuple[_Ignore, ...]]] = []
        for child in children:
            path = directory / child.name
            if child.is_symlink() or excluded(path):
                continue
            if child.is_dir():
                if child.name.startswith(".") or child.name in _SKIPPED:
                    continue
                if not _ignored(path, True, ignores) or tracked.below(path):
                    below.append((path, ignores))
            elif child.name.endswith(suffixes) and (not _ignored(path, False, ignores) or tracked.has(path)):
                yield Found(path, False)
        stack.extend(reversed(below))


# .gitignore ----------------------------------------------------------------------------------------------------
@dataclasses.dataclass(frozen=True)
class _Ignore:
    """One .gitignore: the absolute directory that it stands in and its patterns."""

    directory: str
    spec: pathspec.GitIgnoreSpec


class _Tracked:
    """Files that .gitignore matches and git tracks all the same: these are the project's. Asked of git when first needed."""

    def __init__(self, root: Path, suffixes: tuple[str, ...]) -> None:
        self._root, self._suffixes = os.path.abspath(root), suffixes

    def has(self, path: Path) -> bool:
        return os.path.abspath(path) in self._files

    def below(self, path: Path) -> bool:
        start = os.path.abspath(path) + os.sep
        return any(file.startswith(start) for file in self._files)

    @functools.cached_property
    def _files(self) -> frozenset[str]:
        if not any(os.path.exists(os.path.join(p, ".git")) for p in (self._root, *map(str, Path(self._root).parents))):
            return frozenset()
        import subprocess

        # No file monitor: a checkout's settings must not run programs. Nor the repository that a hook's environment names.
        around = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        command = ["git", "-c", "core.fsmonitor=false", "ls-files", "-z", "--cached", "--ignored", "--exclude-standard"]
        try:
            said = subprocess.run(command, cwd=self._root, env=around, capture_output=True, timeout=60, check=True).stdout
        except (OSError, subprocess.SubprocessError):
            return frozenset()  # no git, or not its files to read
        names = (os.fsdecode(name) for name in said.split(b"\0"))
        return frozenset(os.path.join(self._root, name) for name in names if name.endswith(self._suffixes))


def _load_ignore(directory: Path) -> tuple[_Ignore, ...]:
    import pathspec

    try:
        lines = (directory / ".gitignore").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ()
    return (_Ignore(os.path.abspath(directory), pathspec.GitIgnoreSpec.from_lines(lines)),)


def _ignores_above(root: Path) -> tuple[_Ignore, ...]:
    """The .gitignore files between the repository's top and `root`; none where they ignore `root` itself, which
    was named all the same."""
    absolute = Path(os.path.abspath(root))
    top = next((parent for parent in (absolute, *absolute.parents) if (parent / ".git").exists()), None)
    if top is None or top == absolute:
        return ()
    between = [parent for parent in absolute.parents if parent == top or top in parent.parents]
    ignores = tuple(ignore for parent in reversed(between) for ignore in _load_ignore(parent))
    inside = [parent for parent in absolute.parents if top in parent.parents]
    if any(_ignored(path, True, ignores) for path in (absolute, *inside)):
        return ()
    return ignores


def _ignored(path: Path, is_directory: bool, ignores: tuple[_Ignore, ...]) -> bool:
    """The deepest .gitignore that says something about `path` decides."""
    if not ignores:
        return False
    absolute = os.path.abspath(path)
    for ignore in reversed(ignores):
        relative = absolute[len(ignore.directory) + 1 :].replace(os.sep, "/")
        verdict = ignore.spec.check_file(relative + "/" if is_directory else relative).include
        if verdict is not None:
            return verdict
    return False
