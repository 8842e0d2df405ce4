"""What the modules of copies are called: after the files that they stand beside, and never as a file that is there."""

from __future__ import annotations

import re
import weakref
from pathlib import Path

from ...linen.project.index import Project
from ...source import SourceFile

MARK = "Linen copies of what became flax.nnx, written by nnx-migrate"
_SUFFIX = "_linen"
_CALLED_SO = re.compile(rf"{_SUFFIX}(_copies_*)?$")
_HEAD = 4000  # characters within which a module of copies says what it is

_known: weakref.WeakKeyDictionary[Project, str] = weakref.WeakKeyDictionary()


def is_copy_module(source: SourceFile) -> bool:
    """Was the file written by an earlier run, as a module of copies?"""
    return MARK in source.text[:_HEAD] and _CALLED_SO.search(source.path.stem) is not None


def suffix(project: Project) -> str:
    """What follows a file's name in that of its module of copies: one for all files of a project."""
    if project not in _known:
        found = _SUFFIX
        while any(_is_taken(project, source, found) for source in project.files.values()):
            found = f"{found}_copies" if found == _SUFFIX else f"{found}_"
        _known[project] = found
    return _known[project]


def _is_taken(project: Project, source: SourceFile, ending: str) -> bool:
    """Is there a file of somebody else's where the copies of a file would stand?"""
    there = project.files.get(source.module + ending)
    if there is not None:
        return not is_copy_module(there)
    return not unsuitable_file(source) and _is_of_others(_path(source, ending))


def _is_of_others(path: Path) -> bool:
    try:
        return path.is_file() and MARK not in path.read_text(encoding="utf-8", errors="replace")[:_HEAD]
    except OSError:
        return True


def unsuitable_file(source: SourceFile) -> str:
    """Why no module of copies can stand beside the file; "" where one can."""
    if source.path.suffix != ".py" or source.path.name == "stdin.py":
        return f"{source.path.name} is no Python file that another can stand beside"
    if source.is_package and "." not in source.module.removeprefix(f"{source.prefix}."):
        return "it stands in the __init__.py of a package that no other holds"
    return ""


def file_name(source: SourceFile) -> str:
    """What the module of copies of a file is called after: the file, or the package of an `__init__.py`, beside which it
    stands."""
    return source.path.resolve().parent.name if source.is_package else source.path.stem


def copy_path(project: Project, source: SourceFile) -> Path:
    """Beside the file; that of a package's `__init__.py` stands beside the package, for which `import` looks there."""
    return _path(source, suffix(project))


def _path(source: SourceFile, ending: str) -> Path:
    beside_it = source.path.parent if source.is_package else source.path
    return beside_it.with_name(f"{file_name(source)}{ending}.py")


def copy_module(project: Project, module: str) -> str:
    """`pkg.layers` → `pkg.layers_linen`."""
    return module + suffix(project)


def copy_name(project: Project, key: str) -> str:
    """`pkg.layers.Block` → `pkg.layers_linen.Block`."""
    module, _, name = key.rpartition(".")
    return f"{copy_module(project, module)}.{name}"


def original_of(project: Project, module: str) -> str | None:
    """`pkg.layers_linen` → `pkg.layers`; None where a name is not that of a module of copies."""
    ending = suffix(project)
    here = project.files.get(module)
    if not module.endswith(ending) or (here is not None and not is_copy_module(here)):
        return None
    return module.removesuffix(ending)


__all__ = [
    "MARK", "copy_module", "copy_name", "copy_path", "file_name", "is_copy_module", "original_of", "suffix",
    "unsuitable_file",
]  # fmt: skip
