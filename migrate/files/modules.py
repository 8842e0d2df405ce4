"""Import names of files: packages, `src/` layouts, and scripts that import what lies beside them.

A file's import root is the first directory above it that is not a package, nor lies in one; its name is the path from
there. Two roots that hold the same top-level name (`examples/a/models.py`, `examples/b/models.py`) get their path in front
of it, and the files' import statements are resolved to these names from the nearest directory outwards, as running them
would. What leads nowhere that way is looked for within the package, too: its files may be run as scripts beside which the
others lie.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from .import_roots import only_folders

# What an import means although a file of that name lies in the package.
_INSTALLED = sys.stdlib_module_names | {
    "jax", "jaxlib", "flax", "numpy", "scipy", "optax", "orbax", "chex", "clu", "haiku", "distrax", "torch", "tensorflow",
    "einops", "transformers", "ml_collections", "absl", "tensorflow_probability", "gym", "gymnasium", "wandb", "tqdm",
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class ModuleName:
    """How the project knows one file; see `SourceFile` for `resolve` and `prefix`."""

    name: str
    is_package: bool
    prefix: str = ""
    resolve: Callable[[str], str] | None = None


def module_names(paths: Iterable[Path], contents: Mapping[Path, bytes] | None = None) -> dict[Path, ModuleName]:
    """Unique names for all of `paths`; `contents` are the project's files, whose imports say what is a package."""
    absolute = {path: Path(os.path.abspath(path)) for path in paths}
    packages: dict[Path, bool] = {}
    roots = {path: _import_root(real.parent, packages) for path, real in absolute.items()}
    below = [(real, root) for real, root in zip(absolute.values(), roots.values()) if root != real.parent]
    texts = {Path(os.path.abspath(path)): text for path, text in (contents or {}).items()}
    folders = only_folders({root / real.relative_to(root).parts[0] for real, root in below}, texts, _INSTALLED)
    for path, real in absolute.items() if folders else ():
        roots[path] = next((top for top in real.parents if top in folders), roots[path])
    dotted = {path: _dotted(real, roots[path]) for path, real in absolute.items()}
    holders: dict[str, set[Path]] = {}
    for path, name in dotted.items():
        holders.setdefault(name.partition(".")[0], set()).add(roots[path])
    common = Path(os.path.commonpath(list(roots.values()))) if roots else Path()
    names: dict[Path, str] = {}
    prefixes: dict[Path, str] = {}
    taken: set[str] = set()
    for path, name in sorted(dotted.items(), key=lambda item: str(item[0])):
        prefix = ""
        if len(holders[name.partition(".")[0]]) > 1:
            prefix = ".".join(_identifier(part) for part in roots[path].relative_to(common).parts)
        full = f"{prefix}.{name}" if prefix else name
        while full in taken:  # a.py and a.ipynb side by side
            full += "_"
        taken.add(full)
        names[path], prefixes[path] = full, prefix
    resolver = _Resolver(
        {_without_suffix(real): names[path] for path, real in absolute.items() if real.suffix == ".py"}, common
    )
    return {
        path: ModuleName(
            names[path],
            real.name == "__init__.py",
            prefixes[path],
            resolver.for_directory(roots[path], real.parent),
        )
        for path, real in absolute.items()
    }


def _import_root(directory: Path, packages: dict[Path, bool]) -> Path:
    while _is_package(directory, packages) and directory.parent != directory:
        directory = directory.parent
    return directory


def _is_package(directory: Path, packages: dict[Path, bool]) -> bool:
    """A folder with an `__init__.py`, or one below such a folder: Python imports that without a file of its own."""
    if directory not in packages:
        above = directory.parent
        found = (directory / "__init__.py").exists() or (above != directory and _is_package(above, packages))
        packages[directory] = found and directory.name.isidentifier()
    return packages[directory]


def _dotted(path: Path, root: Path) -> str:
    parts = list(_without_suffix(path).relative_to(root).parts)
    return ".".join(_identifier(part) for part in parts) or _identifier(root.name)


def _without_suffix(path: Path) -> Path:
    return path.parent if path.name == "__init__.py" else path.with_suffix("")


def _identifier(part: str) -> str:
    cleaned = "".join(char if char.isalnum() or char == "_" else "_" for char in part)
    return cleaned if cleaned.isidentifier() else f"_{cleaned}"


def _outwards(folder: str) -> Iterator[str]:
    """A folder and those that it lies in."""
    above = os.path.dirname(folder)
    while folder != above:
        yield folder
        folder, above = above, os.path.dirname(above)
    yield folder


def _joined(folder: str, name: str) -> str:
    """`folder/name`, as `os.path.join` has it, of many; the folder where the name is empty."""
    return f"{folder}{os.sep}{name}" if name and not folder.endswith(os.sep) else folder + name


class _Resolver:
    """Import statements as the files of one import root mean them. Paths are text here: many are asked for."""

    def __init__(self, modules: dict[Path, str], top: Path) -> None:
        self.modules = {str(path): name for path, name in modules.items()}  # path without suffix → name
        self.top = str(top)
        self.directories = {str(parent) for path in modules for parent in path.parents}
        self._above_folders: dict[str, set[str]] = {}  # name of a folder or file below the top → what it lies in
        for path in {*self.modules, *self.directories}:
            above, name = os.path.split(path)
            if self.top in _outwards(above):
                self._above_folders.setdefault(name, set()).add(above)
        self.names = frozenset(modules.values())
        self._by_directory: dict[tuple[Path, Path], Callable[[str], str]] = {}

    def for_directory(self, root: Path, own: Path) -> Callable[[str], str]:
        """What files in the directory `own` below an import root mean."""
        if (root, own) not in self._by_directory:
            cache: dict[str, str] = {}
            scripts = own != root and not (own / "__init__.py").exists()  # what lies beside a script comes first

            def resolve(dotted: str) -> str:
                if dotted not in cache:
                    beside = self._within(str(own), dotted.split(".")) if scripts else None
                    if beside is not None and self._rest(beside) > 1:
                        beside = self._resolve(dotted, str(root)) or beside
                    found = beside or self._resolve(dotted, str(root)) or self._inside(dotted, str(root), str(own))
                    if found is None and (scripts or own == root):
                        found = self._elsewhere(dotted.split("."))
                    cache[dotted] = found or dotted
                return cache[dotted]

            self._by_directory[root, own] = resolve
        return self._by_directory[root, own]

    def _inside(self, dotted: str, root: str, own: str) -> str | None:
        """The module that a file of a package means when it is run as a script, or imported by one beside it."""
        parts = dotted.split(".")
        if parts[0] in _INSTALLED:
            return None
        for base in _outwards(own):
            if base == root:
                return None
            found = self._within(base, parts)
            if found is not None:
                return found
        return None

    def _resolve(self, dotted: str, directory: str) -> str | None:
        """The module that a name leads to, from the nearest directory outwards.

        `net.parts.Block` is not what `net/net.py` beside the file has, where a folder further out has it.
        """
        parts = dotted.split(".")
        nearest: str | None = None
        for found in self._from(parts, directory):
            if found is not None and self._rest(found) <= 1:
                return found
            nearest = nearest or found
        return nearest

    def _from(self, parts: list[str], directory: str) -> Iterator[str | None]:
        for base in _outwards(directory):
            first = _joined(base, parts[0])
            if first in self.modules or first in self.directories:
                yield self._within(base, parts)
            source_root = _joined(base, "src")
            if _joined(source_root, parts[0]) in self.modules:
                yield self._within(source_root, parts)
            if base == self.top:
                break
        yield self._above(parts)

    def _rest(self, dotted: str) -> int:
        """How many parts of a name stand behind the module that it leads to."""
        parts = dotted.split(".")
        return next((n for n in range(len(parts)) if ".".join(parts[: len(parts) - n]) in self.names), len(parts))

    def _above(self, parts: list[str]) -> str | None:
        """What an import says from a folder above all files: `nets.norms` of files that lie in a folder `nets`."""
        if parts[0] in _INSTALLED:
            return None
        for base in _outwards(self.top):
            above, name = os.path.split(base)
            if name == parts[0] and (found := self._within(above, parts)) is not None:
                return found
        return None

    def _elsewhere(self, parts: list[str]) -> str | None:
        """A file in a folder, `models.net`, of which the project has one alone: a notebook may have put it on `sys.path`."""
        if parts[0] in _INSTALLED:
            return None
        found = {self._within(base, parts, least=2) for base in self._above_folders.get(parts[0], ())} - {None}
        return found.pop() if len(found) == 1 else None

    def _within(self, base: str, parts: list[str], least: int = 1) -> str | None:
        """The longest module that `parts` leads to below `base`, by so many of them, with the rest behind its name."""
        path, found, used = base, None, 0
        for count, part in enumerate(parts, 1):
            path = _joined(path, part)
            if path in self.modules:
                found, used = self.modules[path], count
            elif path not in self.directories:
                break
        return ".".join([found, *parts[used:]]) if found is not None and used >= least else None
