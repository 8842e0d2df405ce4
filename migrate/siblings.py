"""How files in directories without `__init__.py` import what stands beside them: by its bare name, or as part of a package.

Such a directory may be one of scripts, which find their neighbours by name, or a namespace package. The import statements
of the project tell: those of the file itself, and those by which others import it.
"""

from __future__ import annotations

import ast
import dataclasses
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .source import SourceFile

if TYPE_CHECKING:
    from .linen.project.index import Project

_known: weakref.WeakKeyDictionary[Project, dict[str, str]] = weakref.WeakKeyDictionary()
_imported: weakref.WeakKeyDictionary[Project, set[str]] = weakref.WeakKeyDictionary()
_spaces: weakref.WeakKeyDictionary[Project, dict[str, str]] = weakref.WeakKeyDictionary()


class Home(NamedTuple):
    """A folder for a generated module, and what stands before the module's name where a file imports it ("pkg.")."""

    folder: Path
    prefix: str


def home(project: Project | None, source: SourceFile, is_script: bool) -> Home:
    """Where what is generated for the package of `source` stands: at its top, and beside a script."""
    folder = source.path.parent
    if is_script:
        return _top_of_folders(folder, beside(project, source))
    package, dot, _ = source.module.partition(".")
    for _ in range(source.module.count(".") - (0 if source.is_package else 1)):
        folder = folder.parent
    return Home(folder, f"{above(project, package)}{package}." if dot or source.is_package else "")


def _top_of_folders(folder: Path, prefix: str) -> Home:
    """Of a folder that is imported as `prefix` ("pkg.models."), the top: the first with `__init__.py`, or the outermost."""
    parts = prefix.split(".")[:-1]
    if not all(parts) or not parts or folder.parts[-len(parts) :] != tuple(parts):
        return Home(folder, prefix)
    folders = [*reversed(list(folder.parents)[: len(parts) - 1]), folder]
    at = next((i for i, each in enumerate(folders) if (each / "__init__.py").exists()), 0)
    return Home(folders[at], ".".join(parts[: at + 1]) + ".")


def home_seen_from(source: SourceFile, folder: Path, written: str) -> Home | None:
    """`folder`, for a file that imports `source` as `written`; None where it is not around that, or the name not of it."""
    if folder not in source.path.parents:
        return None
    package = tuple(written.split(".") if source.is_package else written.split(".")[:-1])
    below = source.path.parent.relative_to(folder).parts
    prefix = package[: len(package) - len(below)]
    fits = prefix and package == (*prefix, *below) and folder.parts[-len(prefix) :] == prefix
    return Home(folder, ".".join(prefix) + ".") if fits else None


def beside(project: Project | None, source: SourceFile) -> str:
    """What stands before the name of a neighbour of `source` in an import: "." or "pkg.models." or nothing."""
    own = _own(source)
    if own or project is None or imports_as_scripts_do(source):
        return own
    if project not in _known:
        _known[project] = _by_others(project.files)
    return _known[project].get(source.module) or _below_package(source)


def said_in_full(sources: Sequence[SourceFile]) -> list[SourceFile]:
    """`sources`, of which none has in `prefix` what the project's imports do say of its name.

    `models/net.py` beside `agents/net.py` is `models.net` for imports too, where these are folders of a namespace package.
    """
    if not any(source.prefix for source in sources):
        return list(sources)
    known = _by_others({source.module: source for source in sources})

    def said(source: SourceFile) -> bool:
        before = known.get(source.module, "")
        return bool(source.prefix) and before.startswith(f"{source.prefix}.") and not imports_as_scripts_do(source)

    return [dataclasses.replace(source, prefix="") if said(source) else source for source in sources]


def above(project: Project | None, module: str) -> str:
    """What stands before the name of a module's package in imports: "space." where that lies in a namespace package."""
    if project is None:
        return ""
    if project not in _spaces:
        _spaces[project] = _namespaces(project)
    return _spaces[project].get(module.partition(".")[0], "")


def spelled(project: Project | None, module: str) -> str:
    """A module's name as the project's imports say it: with the namespace packages around it."""
    if project is None or module not in project.files:
        return module
    if project not in _known:
        _known[project] = _by_others(project.files)
    package = _known[project].get(module, "").removeprefix(".")
    return package + module.rpartition(".")[2] if package else above(project, module) + module


def _below_package(source: SourceFile) -> str:
    """A file in a folder of a package that has no `__init__.py`: where it imports the package, that can be found."""
    package, _, _ = source.module.rpartition(".")
    top = f"{package.partition('.')[0]}."
    folders = source.path.parent.parts
    if not package or folders[-package.count(".") - 1 :] != tuple(package.split(".")):
        return ""
    written = [n.module or "" for n in source.by_kind.get(ast.ImportFrom, ()) if isinstance(n, ast.ImportFrom)]
    written += [a.name for n in source.by_kind.get(ast.Import, ()) if isinstance(n, ast.Import) for a in n.names]
    return f"{package}." if any(f"{name}.".startswith(top) for name in written) else ""


def _namespaces(project: Project) -> dict[str, str]:
    """Package → what stands before its name wherever the project imports it, as far as the folders agree."""
    found: dict[str, set[str]] = {}
    for source in project.files.values():
        for node in (*source.by_kind.get(ast.ImportFrom, ()), *source.by_kind.get(ast.Import, ())):
            written = [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            written += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in written:
                known = _resolved(source, name)
                top = project.files.get(known.partition(".")[0])
                if top is None or not top.is_package or not f".{name}".endswith(f".{known}"):
                    continue
                space = name[: -len(known)]
                parts = tuple(space.split(".")[:-1])
                if not parts or top.path.parent.parts[-len(parts) - 1 : -1] == parts:
                    found.setdefault(top.module, set()).add(space)
    return {package: spaces.pop() for package, spaces in found.items() if len(spaces) == 1}


def imports_as_scripts_do(source: SourceFile) -> bool:
    """Does a file of a package import a neighbour by its bare name (`import utils`), as what is run where it lies?"""
    package = source.module if source.is_package else source.module.rpartition(".")[0]
    aliases = [a for n in source.by_kind.get(ast.Import, ()) if isinstance(n, ast.Import) for a in n.names]
    return bool(package) and any(
        "." not in a.name and source.names.imports.get(a.asname or a.name) == f"{package}.{a.name}" for a in aliases
    )


def runs_alone(project: Project | None, source: SourceFile) -> bool:
    """Is a file of a package a program that nothing imports, and that takes nothing of the package?

    What is run by its path finds what lies beside it; whether it finds the package, nothing shows.
    """
    if project is None or "__main__" not in source.text or source.is_package:
        return False
    top = source.module.partition(".")[0]
    if any(node.level for node in source.by_kind.get(ast.ImportFrom, ()) if isinstance(node, ast.ImportFrom)):
        return False
    if any(f"{name}.".startswith(f"{top}.") for name in (*source.names.imports.values(), *source.names.star_imports)):
        return False
    if project not in _imported:
        names = (s.names for s in project.files.values())
        _imported[project] = {name for n in names for name in (*n.imports.values(), *n.star_imports)}
    return not any(f"{name}.".startswith(f"{source.module}.") for name in _imported[project])


def _own(source: SourceFile) -> str:
    folders = source.path.parent.parts
    found = ""
    for node in source.by_kind.get(ast.ImportFrom, ()):
        if not isinstance(node, ast.ImportFrom):
            continue
        if node.level:
            return "."
        parts = (node.module or "").split(".")
        if (source.path.parent / f"{parts[0]}.py").is_file():
            continue  # a neighbour that is called as the folder is: Python finds that first
        for count in range(len(parts), 0, -1):
            if folders[-count:] == tuple(parts[:count]):
                found = found or ".".join(parts[:count]) + "."
    return found


def _by_others(files: Mapping[str, SourceFile]) -> dict[str, str]:
    """Module → what stands before its name where other files import it."""
    found: dict[str, str] = {}
    for source in files.values():
        for node in [*source.by_kind.get(ast.ImportFrom, ()), *source.by_kind.get(ast.Import, ())]:
            if isinstance(node, ast.ImportFrom):
                names = source.names
                if node.module and not node.level and node.names[0].name == "*":
                    _note(files, found, _resolved(source, node.module), node.module)
                for local, dotted in names.bindings(node):
                    base = dotted.rpartition(".")[0]
                    if node.level:
                        for module in (dotted, base):
                            if module in files and module != source.module:
                                found[module] = "."
                    elif node.module:
                        written = next((a.name for a in node.names if (a.asname or a.name) == local), "")
                        _note(files, found, dotted, f"{node.module}.{written}")
                        _note(files, found, base, node.module)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    _note(files, found, _resolved(source, alias.name), alias.name)
    return found


def _resolved(source: SourceFile, written: str) -> str:
    return source.resolve(written) if source.resolve is not None else written


def _note(files: Mapping[str, SourceFile], found: dict[str, str], module: str, written: str) -> None:
    """`import pkg.models.vit` says that `vit` and its neighbours stand in `pkg.models`, where the directories agree."""
    source = files.get(module)
    package = written.rpartition(".")[0]
    if source is None or not package or source.is_package:
        return
    parts = tuple(package.split("."))
    if source.path.parent.parts[-len(parts) :] == parts:
        found.setdefault(module, f"{package}.")
