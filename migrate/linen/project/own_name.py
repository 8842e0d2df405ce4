"""Classes that read their own name (`self.name`): the constructor takes it as Linen's does, `name=None` by default.

Linen sets the attribute: to the `name=` of the construction, to the name under which a module is held where there is
none, and to None for the module of a whole program. A field of that name does the same where all that construct it tell.
"""

from __future__ import annotations

import ast
import functools
from pathlib import Path
from typing import TYPE_CHECKING

from ...source import SourceFile
from ...trees import of_kind
from .index import ClassInfo, Project

if TYPE_CHECKING:
    from .classes import ClassModel

NAME = "name"
RESERVED = (NAME, "parent")  # fields of nn.Module: a class body that declares them says nothing
_READERS = ("logging.", "absl.logging.", "warnings.warn", "jax.named_scope", "jax.named_call", "jax.debug.print", "print")


@functools.cache
def stub() -> SourceFile:
    """The field, as a class of a file of its own has it."""
    return SourceFile.parse(Path("<flax.linen>"), "flax.linen.name", "class Module:\n    name: str | None = None\n")


def is_read(info: ClassInfo, project: Project) -> bool:
    """Does a class read `self.name` for more than what people read?"""
    source = info.source
    if "self.name" not in source.text:
        return False
    reads = [n for n in of_kind(info.node, ast.Attribute) if n.attr == NAME and _is_self(n.value)]
    if any(not isinstance(n.ctx, ast.Load) for n in reads):
        return False
    defined = {n.name for n in info.node.body if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    declared = [s.target for s in info.node.body if isinstance(s, ast.AnnAssign)]
    stored = [n for n in of_kind(info.node, ast.Name) if n.id == NAME and isinstance(n.ctx, ast.Store)]
    defined |= {n.id for n in stored if not any(n is target for target in declared)}
    return NAME not in defined and any(not is_message(project, source, n) for n in reads)


def is_asked(model: ClassModel | None) -> bool:
    """Is a class, or one that it inherits from, such a one?"""
    return model is not None and any(m.name_field for m in model.mro())


def is_message(project: Project, source: SourceFile, node: ast.Attribute) -> bool:
    """Does an attribute stand in an argument of a logger, or in what is raised?"""
    below: ast.AST = node
    for parent in source.ancestors(node):
        if isinstance(parent, ast.Raise):
            return True
        if isinstance(parent, ast.Assert):
            return below is parent.msg
        if isinstance(parent, ast.Call) and below is not parent.func:
            name = project.qualname(source, parent.func) or ""
            if not name and isinstance(parent.func, ast.Name) and not source.names.is_hidden(parent.func.id, parent):
                name = parent.func.id
            if any(name == reader or (reader.endswith(".") and name.startswith(reader)) for reader in _READERS):
                return True
        elif isinstance(parent, ast.stmt):
            return False
        below = parent
    return False


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


__all__ = ["NAME", "is_asked", "is_message", "is_read", "stub"]
