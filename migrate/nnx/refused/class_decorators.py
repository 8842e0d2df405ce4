"""Decorators of a class: what looks at its dataclass fields, or gives it another constructor, cannot do so in NNX.

One that keeps the class in a table and gives it back (`@register("block")`) stays.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.lifted.lifting import LIFTED, OTHER_LIFTED
from ...linen.values.sites import Unmigratable
from ...trees import subtree

if TYPE_CHECKING:
    from ...linen.project.index import Project
    from ...source import SourceFile
    from ..classes.class_write import ClassWriter

_PLAIN = "dataclasses.dataclass"
_DATACLASSES = frozenset({_PLAIN, "flax.struct.dataclass"})
_OF_FIELDS = frozenset({"diffusers.configuration_utils.flax_register_to_config"})  # known, and not in the project
_MAX_DEPTH = 8  # names for names, and bases of bases
_CONSTRUCTING = frozenset({"__init__", "__new__", "__post_init__", "__dataclass_fields__", "__annotations__"})


def refuse(writer: ClassWriter) -> None:
    """Raises Unmigratable."""
    project, source, node = writer.run.project, writer.source, writer.model.node
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = project.qualname(source, called)
        if _is_frozen(name, decorator):
            reason = "the class is decorated as a frozen dataclass: Linen makes no module of it either (FrozenInstanceError)"
            raise Unmigratable("NNX171", reason, node)
        if name in _DATACLASSES or _stands_for(project, source, called, _DATACLASSES):
            raise Unmigratable("NNX171", "the class is decorated as a dataclass", node)
        found = project.definition(name) if name is not None else None
        if name in _OF_FIELDS or (found is not None and _constructs(project, *found)):
            reason = f"its decorator `{ast.unparse(called)}` asks for dataclass fields, or changes how it is constructed"
            raise Unmigratable("NNX171", reason, node)
    for base in node.bases:
        if _has_slots(project, source, base):
            reason = f"its base `{ast.unparse(base)}` has slots, which nnx.Module does not support"
            raise Unmigratable("NNX171", reason, node)


def _is_frozen(name: str | None, decorator: ast.expr) -> bool:
    """`@flax.struct.dataclass`, `@dataclass(frozen=True)`: Linen sets fields of a module after it was made."""
    options = decorator.keywords if isinstance(decorator, ast.Call) else []
    said = [k.value.value for k in options if k.arg == "frozen" and isinstance(k.value, ast.Constant)]
    return name in _DATACLASSES and all(k.arg is not None for k in options) and (said or [name != _PLAIN]) == [True]


def _stands_for(project: Project, source: SourceFile, node: ast.expr, names: frozenset[str]) -> bool:
    """Is it a name of the project for one of these, or for a partial of one: `data = partial(dataclass, slots=True)`?"""
    for _ in range(_MAX_DEPTH):
        found = project.definition(project.qualname(source, node) or "")
        if found is None or not isinstance(found[1], ast.Assign):
            return False
        source, node = found[0], found[1].value
        if isinstance(node, ast.Call) and project.qualname(source, node.func) == "functools.partial" and node.args:
            node = node.args[0]
        if project.qualname(source, node) in names:
            return True
    return False


def _has_slots(project: Project, source: SourceFile, base: ast.expr, depth: int = 0) -> bool:
    """Does a class of the project that is no module keep its fields in slots, or derive from one that does?"""
    name = project.qualname(source, base) or ""
    found = project.definition(name) if name not in project.linen_classes else None
    if found is None or not isinstance(found[1], ast.ClassDef) or depth > _MAX_DEPTH:
        return False
    home, cls = found[0], found[1]
    if any(isinstance(s, ast.Assign) and any(ast.unparse(t) == "__slots__" for t in s.targets) for s in cls.body):
        return True
    if any(_asks_for_slots(project, home, decorator) for decorator in cls.decorator_list):
        return True
    return any(_has_slots(project, home, inner, depth + 1) for inner in cls.bases)


def _asks_for_slots(project: Project, source: SourceFile, node: ast.expr) -> bool:
    """`@dataclass(slots=True)`, or a name for it."""
    for _ in range(_MAX_DEPTH):
        if isinstance(node, ast.Call):
            if any(k.arg == "slots" and not _is_false(k.value) for k in node.keywords):
                return True
            partial = project.qualname(source, node.func) == "functools.partial" and node.args
            node = node.args[0] if partial else node.func
            continue
        found = project.definition(project.qualname(source, node) or "")
        if found is None or not isinstance(found[1], ast.Assign):
            return False
        source, node = found[0], found[1].value
    return False


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def _constructs(project: Project, source: SourceFile, definition: ast.stmt) -> bool:
    """Does a function read or replace a constructor or the fields of a dataclass?"""
    if not isinstance(definition, ast.FunctionDef):
        return False
    for node in subtree(definition):
        if isinstance(node, ast.Attribute) and node.attr in _CONSTRUCTING:
            return True
        if isinstance(node, ast.Constant) and node.value in _CONSTRUCTING:
            return True
        if isinstance(node, ast.Name | ast.Attribute) and (project.qualname(source, node) or "").startswith("dataclasses."):
            return True
    return False


def lifts(project: Project, source: SourceFile, decorator: ast.expr) -> bool:
    """Is it a name or a function of the project that transforms the class? (`over_time = partial(nn.vmap, ...)`)"""
    seen: set[ast.AST] = set()
    waiting = [(source, decorator.func if isinstance(decorator, ast.Call) else decorator)]
    while waiting:
        where, node = waiting.pop()
        name = project.qualname(where, node)
        if name in LIFTED or name in OTHER_LIFTED:
            return True
        found = project.definition(name) if name is not None else None
        if found is not None and found[1] not in seen and isinstance(found[1], ast.FunctionDef | ast.Assign):
            seen.add(found[1])
            waiting += [(found[0], n) for n in subtree(found[1]) if isinstance(n, ast.Name | ast.Attribute)]
    return False


__all__ = ["lifts", "refuse"]
