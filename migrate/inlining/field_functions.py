"""Functions that make modules and that fields hold, called by their own names where the field holds them:

    attend: Callable = attention                        if self.attend is attention:
    ...                                                     y = attention(q, k)
    y = self.attend(q, k)                      →        else:
                                                            y = self.attend(q, k)

It is the same Linen program. The first call is one of a helper function, whose layers are the class's own; what else the
field may hold is called as before.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..linen.modules.given_functions import ruled_out
from ..linen.project.index import Project
from ..source import SourceFile
from .callees import Callee, NotInlined, callee, calls_in, makes
from .chosen import Choice
from .steps import chosen


def calls_one(project: Project, source: SourceFile, model: ast.ClassDef) -> bool:
    """Does a class call a function that makes modules by the field that holds it?"""
    return any(True for _ in _calls(project, source, model))


def with_own_names(project: Project, source: SourceFile, model: ast.ClassDef) -> str | None:
    """The file with one such call less; None where there is none."""
    for method, call, held in _calls(project, source, model):
        test = f"{source.text_of(call.func)} is {source.text_of(held)}"
        try:
            return chosen(source, method, call, Choice(((test, held), ("", call.func))))
        except NotInlined:
            continue
    return None


def _calls(
    project: Project, source: SourceFile, model: ast.ClassDef
) -> Iterator[tuple[ast.FunctionDef, ast.Call, ast.expr]]:
    """The calls, each with its method and with what names the function there."""
    fields = _fields(project, source, model)
    for method, call in calls_in(source, model) if fields else ():
        func = call.func
        if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Name) or func.value.id != "self":
            continue
        out = ruled_out(project, source, call, f"self.{func.attr}")
        for held in fields.get(func.attr, ()):
            names = [n for n in ast.walk(held) if isinstance(n, ast.Name)]
            same = all(source.names.binding_scope(n.id, call) is None for n in names)
            if same and project.qualname(source, held) not in out:
                yield method, call, held


def _fields(project: Project, source: SourceFile, model: ast.ClassDef) -> dict[str, list[ast.expr]]:
    """Field → the functions that make modules and that the class, or a construction in its file, gives it."""
    places = [
        s.target.id
        for s in model.body
        if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name) and "ClassVar" not in ast.unparse(s.annotation)
    ]
    given: dict[str, list[ast.expr]] = {name: [] for name in places}
    for statement in model.body:
        if isinstance(statement, ast.AnnAssign) and statement.value is not None:
            given.get(ast.unparse(statement.target), []).append(statement.value)
    qualname = f"{source.module}.{model.name}"
    for node in source.saying(model.name):
        call = source.parents.get(node)
        if isinstance(call, ast.Call) and call.func is node and project.qualname(source, node) == qualname:
            said = [*zip(places, call.args, strict=False), *[(k.arg or "", k.value) for k in call.keywords]]
            for name, value in said:
                given.get(name, []).append(value)
    found: dict[str, list[ast.expr]] = {}
    for name, values in given.items():
        functions = {project.qualname(source, v): v for v in values if _function(project, source, model, v) is not None}
        if functions and not _is_set(model, name):
            found[name] = list(functions.values())
    return found


def _function(project: Project, source: SourceFile, model: ast.ClassDef, node: ast.expr) -> Callee | None:
    """The function of a module that an expression names, where it makes modules."""
    if not isinstance(node, ast.Name | ast.Attribute):
        return None
    parts = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
    if any(source.names.binding_scope(n.id, n) is not None for n in parts):
        return None
    found = callee(project, source, model, node)
    plain = found is not None and found.kind == "function" and not found.bound
    return found if plain and found is not None and makes(project, source, model, found, set()) else None


def _is_set(model: ast.ClassDef, field: str) -> bool:
    """Does the class give the field another value, or have a method of that name?"""
    stored = any(
        isinstance(n, ast.Attribute) and n.attr == field and not isinstance(n.ctx, ast.Load) for n in ast.walk(model)
    )
    return stored or any(isinstance(s, ast.FunctionDef) and s.name == field for s in model.body)


__all__ = ["calls_one", "with_own_names"]
