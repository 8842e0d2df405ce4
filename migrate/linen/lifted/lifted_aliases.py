"""Lifted classes of a file's own: `BatchModel = nn.vmap(Model, in_axes=0, variable_axes={"params": None}, ...)`.

Such a name stands for a class like `Model` whose `__call__` goes through the transform. Modules that construct it are
followed as if they had lifted the class themselves; what else constructs it gets a class of that name (see
`nnx/lifted/lifted_aliases.py`).
"""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from ...source import SourceFile
from ..project.index import Project
from ..values.environment import Env
from ..values.sites import Factory, Unmigratable
from .lifting import LIFTED


@dataclasses.dataclass(frozen=True)
class LiftedAlias:
    """One assignment of a module's body whose value is a class of the project under a lifted transform."""

    qualname: str
    source: SourceFile
    statement: ast.Assign
    call: ast.Call
    target: str  # the class under the transform
    kind: str  # vmap | scan | remat | jit


def lifted_kind(project: Project, source: SourceFile, node: ast.AST) -> str:
    """Which lifted transform a call applies, perhaps by way of `functools.partial`; "" for any other call."""
    if not isinstance(node, ast.Call):
        return ""
    called = project.qualname(source, node.func) or ""
    if called == "functools.partial":
        given = [*node.args, *[k.value for k in node.keywords]]
        called = next((q for q in (project.qualname(source, n) for n in given) if q in LIFTED), "")
    return LIFTED.get(called, "")


def targets_of(project: Project, source: SourceFile, call: ast.Call) -> list[str]:
    """The Linen classes of the project among the arguments of a call."""
    given = [project.qualname(source, n) for n in [*call.args, *[k.value for k in call.keywords]]]
    return [name for name in given if name in project.linen_classes]


def find(project: Project) -> list[LiftedAlias]:
    """The aliases of all files: names that a module's body binds once, to one class under one transform."""
    found: list[LiftedAlias] = []
    words = {name.rpartition(".")[2] for name in LIFTED}
    for source in project.files.values():
        if not words & source.words:
            continue
        for statement in source.tree.body:
            if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
                continue
            name, call = statement.targets[0], statement.value
            if not isinstance(name, ast.Name) or not isinstance(call, ast.Call):
                continue
            kind, targets = lifted_kind(project, source, call), targets_of(project, source, call)
            is_partial = project.qualname(source, call.func) == "functools.partial"
            if not kind or is_partial or len(targets) != 1 or _times_bound(source, name.id) != 1:
                continue
            if project.qualname(source, call.args[0]) != targets[0] if call.args else True:
                continue
            qualname = f"{source.module}.{name.id}" if source.module else name.id
            found.append(LiftedAlias(qualname, source, statement, call, targets[0], kind))
    return found


def _times_bound(source: SourceFile, name: str) -> int:
    """How often a module's body binds a name, its functions and classes left out."""
    count = 0
    for node in source.nodes:
        bound = isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store | ast.Del)
        defined = isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef) and node.name == name
        if (bound or defined) and source.names.scope_of(node) is None:
            count += 1
    return count


def factory_of(run: Any, alias: LiftedAlias) -> Factory:
    """The lifted class with its transform. Raises Unmigratable where the transform's options cannot be followed."""
    value = run.evaluate(alias.call, Env({}, alias.source)).value
    if not isinstance(value, Factory) or value.target != alias.target or len(value.lifted) != 1:
        raise Unmigratable("NNX130", f"`{ast.unparse(alias.call.func)}` outside of a module cannot be followed", alias.call)
    return value


__all__ = ["LiftedAlias", "factory_of", "find", "lifted_kind", "targets_of"]
