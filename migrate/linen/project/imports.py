"""Which files of the project an import statement loads, and what another file may import from them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ...source import SourceFile

if TYPE_CHECKING:
    from .index import Project


def imported_modules(files: Mapping[str, SourceFile], source: SourceFile, statement: ast.stmt) -> Iterator[str]:
    """The project's modules that an import statement of `source` imports, packages around `source` apart."""
    dotted: list[str] = []
    if isinstance(statement, ast.ImportFrom):
        dotted = [d for _, d in source.names.bindings(statement)] or list(source.names.star_imports)
    elif isinstance(statement, ast.Import):
        dotted = [a.name if source.resolve is None else source.resolve(a.name) for a in statement.names]
    for name in dotted:
        while name:
            if name in files and not f"{source.module}.".startswith(f"{name}."):
                yield name
            name = name.rpartition(".")[0]


def module_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that may run when a file is imported, those under conditions among them."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test):
            yield from module_level(statement.orelse)
        elif isinstance(statement, ast.If | ast.Try | ast.With | ast.For | ast.While):
            for field in ("body", "orelse", "finalbody"):
                yield from module_level(getattr(statement, field, []))
            for handler in getattr(statement, "handlers", []):
                yield from module_level(handler.body)


def loaded_by(files: Mapping[str, SourceFile], module: str, *, surely: bool, apart: str = "") -> frozenset[str]:
    """The project's modules that importing `module` imports, itself included.

    `surely`: by statements that always run. Packages around the module `apart` are left out.
    """
    found = {module}
    todo = [module]
    while todo:
        source = files[todo.pop()]
        for statement in source.tree.body if surely else module_level(source.tree.body):
            for target in imported_modules(files, source, statement):
                if target not in found and not (apart and f"{apart}.".startswith(f"{target}.")):
                    found.add(target)
                    todo.append(target)
    return frozenset(found)


def importable(project: Project, own: SourceFile, dotted: str) -> tuple[str, str] | None:
    """(what to import, what stands behind it) of `pkg.tables.Kind.A`, where the file can import `pkg.tables.Kind`.

    It can where it has loaded that file anyway, which does not load this one, and nothing gives the name another value
    later on: the import would go on having the first.
    """
    parts = dotted.split(".")
    for count in range(len(parts) - 1, 0, -1):
        module, name = ".".join(parts[:count]), parts[count]
        source = project.files.get(module)
        if source is None or source is own:
            continue
        if name not in source.names.definitions or _is_set_later(project, source, name):
            return None
        if module not in project.loaded_by(own.module, surely=True) or own.module in project.loaded_by(module, surely=False):
            return None
        return f"{module}.{name}", "".join(f".{part}" for part in parts[count + 1 :])
    return None


def _is_set_later(project: Project, source: SourceFile, name: str) -> bool:
    """Does a function, or another file, give a name of the file another value?"""
    if any(name in node.names for node in source.by_kind.get(ast.Global, ()) if isinstance(node, ast.Global)):
        return True
    for other in project.files.values():
        stored = other.by_kind.get(ast.Attribute, ()) if name in other.words else ()
        for node in stored:
            assert isinstance(node, ast.Attribute)
            if node.attr == name and not isinstance(node.ctx, ast.Load):
                if project.qualname(other, node.value) == source.module:
                    return True
    return False


__all__ = ["importable", "imported_modules", "loaded_by", "module_level"]
