"""Methods that ask a module for all that it holds: `vars(self)`, `dataclasses.fields(self)`.

Linen keeps the fields of a dataclass there, the parent, the name and what setup has made; an nnx.Module is no dataclass, and
keeps lists, variables and wrapped modules in other objects. A mixin that is no module itself may ask, too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linen.values.sites import Unmigratable
from ...trees import of_kind

if TYPE_CHECKING:
    from ...linen.project.index import Project
    from ...source import SourceFile
    from ..classes.class_write import ClassWriter

_OF_FIELDS = frozenset({"dataclasses.fields", "dataclasses.asdict", "dataclasses.astuple"})
_MAX_DEPTH = 8  # bases of bases


def refuse(writer: ClassWriter) -> None:
    """Raises Unmigratable."""
    project = writer.run.project
    for source, cls in _classes(project, writer.model.source, writer.model.node, 0):
        if not {"vars", "dataclasses"} & source.words:
            continue
        for call in of_kind(cls, ast.Call):
            if not isinstance(call, ast.Call) or not call.args or not _is_self(call.args[0]):
                continue
            plain = isinstance(call.func, ast.Name) and call.func.id == "vars" and not _takes_one(source.parents.get(call))
            if cls is not writer.model.node and not _holds_modules(writer):
                continue  # a mixin that goes through the modules finds none on either side
            if plain or project.qualname(source, call.func) in _OF_FIELDS:
                reason = f"`{ast.unparse(call)}` of {cls.name} asks for all that a module of Linen holds"
                raise Unmigratable("NNX133", reason, writer.model.node)


def _holds_modules(writer: ClassWriter) -> bool:
    run = writer.run
    made = any(site.kind not in ("param", "variable") for site in run.sites)
    handed = writer.model.qualname in run.analyser.given_outside.handed
    return made or handed or any(run.holds_module(run.field_value(name).value) for name in run.fields)


def _takes_one(parent: ast.AST | None) -> bool:
    """`vars(self).get("width")`, `vars(self)["width"]`"""
    return isinstance(parent, ast.Subscript) or (isinstance(parent, ast.Attribute) and parent.attr == "get")


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _classes(
    project: Project, source: SourceFile, cls: ast.ClassDef, depth: int
) -> Iterator[tuple[SourceFile, ast.ClassDef]]:
    """A class, and all of the project that it derives from."""
    yield source, cls
    for base in cls.bases if depth < _MAX_DEPTH else []:
        found = project.definition(project.qualname(source, base) or "")
        if found is not None and isinstance(found[1], ast.ClassDef):
            yield from _classes(project, found[0], found[1], depth + 1)


__all__ = ["refuse"]
