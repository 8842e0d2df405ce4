"""Module classes that are reached through an attribute of another class: `Model.module_class(config)`.

Frameworks around Linen wrap a module's class in one of their own, which saves and loads, and holds the module's class as an
attribute: `module_class = Encoder` in its body, or in what a decorator makes of the module's class itself:

    def wrap(module):
        return type(module.__name__, (Pretrained,), {"module_class": module})
"""

from __future__ import annotations

import ast
from typing import Any

from ...names import value_given
from ...source import SourceFile
from ...trees import subtree
from ..values.arguments import stored_names
from ..values.mutation import is_changed


def held_class(run: Any, qualname: str) -> str | None:
    """The module class that `package.Owner.attribute` is; None where that is not clear."""
    owner, _, name = qualname.rpartition(".")
    found = run.project.definition(owner) if owner else None
    if found is None or not isinstance(found[1], ast.ClassDef):
        return None
    source, statement = found
    if owner in run.project.linen_classes:
        wrapping = [d for d in statement.decorator_list if _hands_on(run, source, d, name)]
        return owner if len(wrapping) == 1 else None
    assigned = [s for s in subtree(statement) if isinstance(s, ast.Assign | ast.AnnAssign) and name in _targets(s)]
    if len(assigned) != 1 or assigned[0] not in statement.body or statement.decorator_list:
        return None
    value = assigned[0].value
    target = run.project.qualname(source, value) if value is not None else None
    return target if target in run.project.linen_classes else None


def held_kinds(run: Any, qualname: str) -> tuple[SourceFile, ast.expr] | None:
    """What a class that is no module has under a name, `layers = [nn.Dense, nn.Conv]`; None where that may change."""
    owner, _, name = qualname.rpartition(".")
    found = run.project.definition(owner) if owner and owner not in run.project.linen_classes else None
    if found is None or not isinstance(found[1], ast.ClassDef) or len(found[0].binding(found[1].name)) != 1:
        return None
    source, statement = found
    marks = [run.project.qualname(source, d.func if isinstance(d, ast.Call) else d) for d in statement.decorator_list]
    if statement.bases or statement.keywords or any(mark != "dataclasses.dataclass" for mark in marks):
        return None  # an enumeration, or what a metaclass or a decorator makes of it
    bound = [s for s in statement.body if isinstance(s, ast.Assign | ast.AnnAssign) and name in _targets(s)]
    value = value_given(bound[0], name) if len(bound) == 1 else None
    if value is None or [n for n in source.names.binders(name) if source.names.bound_by(n) is statement][1:]:
        return None
    own = (n for n in subtree(value) if isinstance(n, ast.Name) and source.names.binding_scope(n.id, n) is not None)
    return (source, value) if next(own, None) is None and not is_changed(run.project, qualname) else None


def _targets(node: ast.Assign | ast.AnnAssign) -> set[str]:
    """The names, and attributes of anything, that an assignment binds."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    inner = [n for t in targets for n in subtree(t)]
    return {n.id for n in inner if isinstance(n, ast.Name)} | {n.attr for n in inner if isinstance(n, ast.Attribute)}


def _hands_on(run: Any, source: SourceFile, decorator: ast.expr, name: str) -> bool:
    """Does a decorator make a class that holds the decorated one as its attribute `name`?"""
    called = isinstance(decorator, ast.Call)
    head = decorator.func if isinstance(decorator, ast.Call) else decorator
    known = run.project.definition(run.project.qualname(source, head) or "")
    if known is None or not isinstance(known[1], ast.FunctionDef):
        return False
    function: ast.FunctionDef = known[1]
    if called:
        inner = [s for s in function.body if isinstance(s, ast.FunctionDef)]
        last = function.body[-1]
        if len(inner) != 1 or not (isinstance(last, ast.Return) and isinstance(last.value, ast.Name)):
            return False
        if last.value.id != inner[0].name:
            return False
        function = inner[0]
    if not function.args.args:
        return False
    parameter = function.args.args[0].arg
    return parameter not in stored_names(function) and _makes_class(function) and _entries(function, name) == [parameter]


def _makes_class(function: ast.FunctionDef) -> bool:
    """Does it make a class anew, by `type(name, bases, entries)` or a class statement?"""
    return any(
        (isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "type" and len(n.args) == 3)
        or isinstance(n, ast.ClassDef)
        for n in subtree(function)
    )


def _entries(function: ast.FunctionDef, name: str) -> list[str]:
    """What stands in it under `name`: in the entries of the class, or assigned in its body."""
    found: list[str] = []
    annotations = {id(v) for d in subtree(function) if isinstance(d, ast.Dict) for v in d.values if isinstance(v, ast.Dict)}
    for node in subtree(function):
        if isinstance(node, ast.Dict) and id(node) not in annotations:
            for key, value in zip(node.keys, node.values):
                if isinstance(key, ast.Constant) and key.value == name:
                    found.append(ast.unparse(value))
        elif isinstance(node, ast.ClassDef):
            for s in node.body:
                if isinstance(s, ast.Assign | ast.AnnAssign) and name in _targets(s) and s.value is not None:
                    found.append(ast.unparse(s.value))
    return found


__all__ = ["held_class"]
