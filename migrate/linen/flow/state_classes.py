"""The project's classes that derive from TrainState, however far apart they are."""

from __future__ import annotations

import ast

from ...source import SourceFile
from ..project.index import Project
from .flow_values import TRAIN_STATES

# Methods that every TrainState has: a class that says them anew is not followed.
_OF_ALL = {"apply_gradients", "create", "replace"}


class StateClasses:
    """TrainState and what derives from it: their names and the fields that they add."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.own: dict[str, ast.ClassDef] = {}
        known = -1
        while known != len(self.own):  # a base may be found after what derives from it
            known = len(self.own)
            for source in project.files.values():
                for node in source.by_kind.get(ast.ClassDef, ()):
                    if isinstance(node, ast.ClassDef) and any(
                        self.base_name(source, node, base) in self for base in node.bases
                    ):
                        self.own[f"{source.module}.{node.name}" if source.module else node.name] = node

    def __contains__(self, qualname: str | None) -> bool:
        return qualname in TRAIN_STATES or qualname in self.own

    def defines(self, node: ast.AST) -> bool:
        """Is it the definition of a class of states?"""
        return any(node is own for own in self.own.values())

    def base_name(self, source: SourceFile, node: ast.ClassDef, base: ast.expr) -> str | None:
        """What a base of a class is called: in `class TrainState(TrainState)` it is the imported class."""
        imported = source.names.imports.get(base.id) if isinstance(base, ast.Name) and base.id == node.name else None
        if imported and source.parents.get(node) is source.tree:
            return self.project.canonical(imported)
        return self.project.qualname(source, base)

    def fields(self, qualname: str) -> tuple[str, ...]:
        """Fields that a class of the project adds by itself."""
        node = self.own.get(qualname)
        if node is None:
            return ()
        return tuple(s.target.id for s in node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name))

    def method(self, qualname: str, name: str) -> ast.FunctionDef | None:
        """A method that a class of the project adds by itself, if it is a plain one and no other of TrainState's."""
        node = self.own.get(qualname) if name not in _OF_ALL else None
        found = [s for s in node.body if isinstance(s, ast.FunctionDef) and s.name == name] if node is not None else []
        return found[0] if len(found) == 1 and not found[0].decorator_list else None
