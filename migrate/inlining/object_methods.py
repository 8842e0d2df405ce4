"""Methods of plain objects that make modules for the class that calls them: `cfg.make_norm()` of `docfg: Config`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..linen.modules.made_by_text import kind_of
from ..linen.project.index import Project
from ..source import SourceFile

DATACLASSES = frozenset({"dataclasses.dataclass", "flax.struct.dataclass", "chex.dataclass"})


def method_of_object(
    project: Project, source: SourceFile, model: ast.ClassDef, func: ast.Attribute
) -> tuple[ast.FunctionDef, SourceFile, str] | None:
    """The method that `func` names, where the object's class is known and nobody else's method can stand for it.

    With how it is called: a static method is not given the object.
    """
    found = _class_of(project, source, model, func.value)
    if found is None:
        return None
    cls, home = found
    named = [s for s in cls.body if getattr(s, "name", "") == func.attr]
    if len(named) != 1 or not isinstance(named[0], ast.FunctionDef) or _is_derived_from(project, home, cls):
        return None
    method = named[0]
    if kind_of(method) == "staticmethod":
        return method, home, "static method"
    first = [*method.args.posonlyargs, *method.args.args][:1]
    if not first or first[0].arg != "self" or method.decorator_list:
        return None
    if any(isinstance(n, ast.Attribute) and not isinstance(n.ctx, ast.Load) for n in ast.walk(method)):
        return None
    return method, home, "of an object"


def _class_of(
    project: Project, source: SourceFile, model: ast.ClassDef, node: ast.expr, depth: int = 0
) -> tuple[ast.ClassDef, SourceFile] | None:
    """The plain class of what a field of a module, or a field of such an object, is annotated to hold."""
    if isinstance(node, ast.Name):  # `cfg = self.docfg`, once
        scope = source.names.binding_scope(node.id, node)
        binders = [n for n in source.names.binders(node.id) if source.names.bound_by(n) is scope]
        parent = source.parents.get(binders[0]) if len(binders) == 1 and scope is not None else None
        if not isinstance(parent, ast.Assign) or parent.targets != binders or depth > 3:
            return None
        return _class_of(project, source, model, parent.value, depth + 1)
    if not isinstance(node, ast.Attribute):
        return None
    if isinstance(node.value, ast.Name) and node.value.id == "self":
        return _annotated(project, source, model, node.attr)
    around = _class_of(project, source, model, node.value, depth)
    return _annotated(project, around[1], around[0], node.attr) if around is not None else None


def _annotated(
    project: Project, source: SourceFile, cls: ast.ClassDef, field: str
) -> tuple[ast.ClassDef, SourceFile] | None:
    """The plain class that a field is annotated with; `X | None` and `Optional[X]` are an X where a method is called."""
    said = [s.annotation for s in cls.body if isinstance(s, ast.AnnAssign) and ast.unparse(s.target) == field]
    stored = [s for s in cls.body if isinstance(s, ast.Assign | ast.FunctionDef) and field in _bound(s)]
    kinds = list(_alternatives(said[0])) if len(said) == 1 and not stored else []
    if len(kinds) != 1:
        return None
    module, _, name = (project.qualname(source, kinds[0]) or "").rpartition(".")
    home = project.files.get(module)
    found = home.names.definitions.get(name) if home is not None else None
    if home is None or not isinstance(found, ast.ClassDef) or found.bases or found.keywords:
        return None
    decorators = [d.func if isinstance(d, ast.Call) else d for d in found.decorator_list]
    return (found, home) if all(project.qualname(home, d) in DATACLASSES for d in decorators) else None


def _bound(statement: ast.Assign | ast.FunctionDef) -> list[str]:
    return [statement.name] if isinstance(statement, ast.FunctionDef) else [ast.unparse(t) for t in statement.targets]


def _alternatives(annotation: ast.expr) -> Iterator[ast.expr]:
    """The kinds that an annotation allows besides None."""
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        yield from _alternatives(annotation.left)
        yield from _alternatives(annotation.right)
    elif isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value).rpartition(".")[2] == "Optional":
        yield from _alternatives(annotation.slice)
    elif not (isinstance(annotation, ast.Constant) and annotation.value is None):
        yield annotation


def _is_derived_from(project: Project, home: SourceFile, cls: ast.ClassDef) -> bool:
    """May an object of the class be one of a class that says something else?"""
    whole = f"{home.module}.{cls.name}"
    for source in project.files.values():
        for other in source.by_kind.get(ast.ClassDef, ()) if cls.name in source.words or source is not home else ():
            assert isinstance(other, ast.ClassDef)
            if any(project.qualname(source, base) == whole for base in other.bases):
                return True
    return False


__all__ = ["DATACLASSES", "method_of_object"]
