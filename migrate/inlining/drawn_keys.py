"""`key = self.make_rng("noise")`, where only a variable's first value takes the key: drawn among its arguments."""

from __future__ import annotations

import ast

from ..edits import EditSet
from ..linen.project.index import Project
from ..shared_lines import removals
from ..source import SourceFile
from ..trees import subtree


def with_keys_in_place(_: Project, source: SourceFile, model: ast.ClassDef) -> str | None:
    """The file with one such name of a class less; None where there is none."""
    if "make_rng" not in source.text:
        return None
    for method in [s for s in model.body if isinstance(s, ast.FunctionDef)]:
        for statement in method.body:
            name = _drawn(statement)
            if name and not source.shares_line(statement):
                uses = [n for n in subtree(method) if isinstance(n, ast.Name) and n.id == name]
                reads = [n for n in uses if isinstance(n.ctx, ast.Load)]
                if len(uses) == 2 and len(reads) == 1 and _is_first_value(source, method, reads[0]):
                    assert isinstance(statement, ast.Assign)
                    edits = EditSet(source.text)
                    edits.replace(source.span(reads[0]), source.text_of(statement.value))
                    edits.replace(next(removals(source, [statement])), "")
                    return edits.render()
    return None


def _drawn(statement: ast.stmt) -> str:
    """The name that a statement gives such a key."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or not isinstance(statement.value, ast.Call):
        return ""
    (target,) = statement.targets
    return target.id if isinstance(target, ast.Name) and _is_own(statement.value, "make_rng") else ""


def _is_own(call: ast.Call, method: str) -> bool:
    func = call.func
    return isinstance(func, ast.Attribute) and func.attr == method and ast.unparse(func.value) == "self"


def _is_first_value(source: SourceFile, method: ast.FunctionDef, name: ast.Name) -> bool:
    """Is it an argument of the initializer of `self.variable(...)`, in a statement of the method itself?"""
    call = source.parents[name]
    if not isinstance(call, ast.Call) or not _is_own(call, "variable") or name not in call.args[2:]:
        return False
    statement = next(a for a in source.ancestors(name) if isinstance(a, ast.stmt))
    return statement in method.body


__all__ = ["with_keys_in_place"]
