"""Which files can be parts of one running program: those that imports join, in either direction.

What a file does to objects of any class (`setattr(self, name, value)`) concerns the files that may hold the same object.
"""

from __future__ import annotations

import ast
from collections.abc import Collection
from typing import TYPE_CHECKING

from ...source import SourceFile

if TYPE_CHECKING:
    from .index import Project

_DYNAMIC = frozenset({"import_module", "__import__", "exec", "run_path", "run_module"})


def programs(project: Project) -> dict[str, int]:
    """A number for each module; those that share one may run together.

    Who imports by computed names may run with all in its folder and below, but for notebooks.
    """
    modules = [name for name, source in project.files.items() if source.path.suffix != ".ipynb"]
    group = {name: name for name in project.files}

    def of(name: str) -> str:
        while group[name] != name:
            group[name] = name = group[group[name]]
        return name

    for name, source in project.files.items():
        joined = _imported(project, source)
        if _DYNAMIC & source.words:
            folder = name.rpartition(".")[0]
            joined |= {other for other in modules if other.startswith(f"{folder}." if folder else "")}
        for other in joined:
            group[of(other)] = of(name)
    numbers: dict[str, int] = {}
    return {name: numbers.setdefault(of(name), len(numbers)) for name in project.files}


def reached_from(project: Project, modules: Collection[str]) -> frozenset[str]:
    """The modules whose objects may meet what these make: all that import them, with all that those import in turn.

    All modules where some of those say gin: what a configuration file of it gives to whom is not in the code.
    """
    imported: dict[str, set[str]] = {}
    for name, source in project.files.items():
        imported[name] = _imported(project, source)
        if _DYNAMIC & source.words:
            folder = name.rpartition(".")[0]
            imported[name] |= {other for other in project.files if other.startswith(f"{folder}." if folder else "")}
    above = set(modules)
    while more := {name for name, those in imported.items() if name not in above and not those.isdisjoint(above)}:
        above |= more
    if any("gin" in project.files[name].words for name in above):
        return frozenset(project.files)
    reached = set(above)
    while more := {other for name in reached for other in imported[name]} - reached:
        reached |= more
    return frozenset(reached)


def _imported(project: Project, source: SourceFile) -> set[str]:
    """The modules that a file imports, with the packages around them that have code of their own."""
    found: set[str] = set()
    whole = [alias.name for node in source.by_kind.get(ast.Import, ()) for alias in node.names]  # type: ignore[attr-defined]
    resolved = map(source.resolve, whole) if source.resolve is not None else whole
    for dotted in (*resolved, *source.names.imports.values(), *source.names.star_imports):
        parts = dotted.split(".")
        found |= {base for n in range(1, len(parts) + 1) if (base := ".".join(parts[:n])) in project.files}
    return {name for name in found if any(not isinstance(s, ast.Expr) for s in project.files[name].tree.body)}


__all__ = ["programs", "reached_from"]
