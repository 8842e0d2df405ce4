"""Do functions make modules for whoever calls them, as their text says? Of functions that are not followed."""

from __future__ import annotations

import ast

from ...catalog import layers
from ...source import SourceFile
from ...trees import subtree
from ..project.index import Project
from ..values.called_functions import function_of
from . import detached_cells, registered


def method_of(project: Project, qualname: str) -> tuple[SourceFile, ast.FunctionDef, str] | None:
    """The class method or static method of a class that is no module, by its whole name, with the name of the class.

    It may be that of a base, where the class has but one.
    """
    owner, _, name = qualname.rpartition(".")
    for _ in range(8):
        known = project.definition(owner) if owner and owner not in project.linen_classes else None
        if known is None or not isinstance(known[1], ast.ClassDef):
            return None
        source, statement = known[0], known[1]
        for function in statement.body:
            if isinstance(function, ast.FunctionDef) and function.name == name:
                return (source, function, owner) if kind_of(function) else None
        if len(statement.bases) != 1:
            return None
        owner = project.qualname(source, statement.bases[0]) or ""
    return None


def kind_of(function: ast.FunctionDef) -> str:
    """ "classmethod", "staticmethod", or "" for any other function."""
    said = {ast.unparse(d) for d in function.decorator_list}
    return next((kind for kind in ("classmethod", "staticmethod") if said == {kind}), "")


def makes_modules(
    project: Project,
    source: SourceFile,
    function: ast.FunctionDef | ast.Lambda,
    seen: set[ast.AST],
    *,
    of_class: bool = False,
    owner: str = "",
    counted: bool = True,
) -> bool:
    """Does a function construct layers or modules for whoever calls it, by itself or by others that it calls?

    `of_class`: it is a class method of a module class, whose `cls(...)` makes one; whole models are made by those of mixins.
    `owner`: the class, which is no module, of which it is a class method or static method. `counted=False`: no call of a
    module comes to it, so that Linen gives no number to what it asks for zeros.
    """
    seen.add(function)
    for node in subtree(function):
        if not isinstance(node, ast.Call):
            continue
        name = project.qualname(source, node.func) or ""
        if detached_cells.is_detached(source, node, name, counted):
            continue  # zeros, whoever asks for them
        own = of_class and isinstance(node.func, ast.Name) and node.func.id == "cls"
        if own or layers.lookup(name) is not None or name in project.linen_classes:
            return not _is_whole_model(source, function, node)
        if _others_make(project, source, node.func, seen, owner, counted) or is_maker(project, source, node.func):
            return True
    return False


def is_maker(project: Project, source: SourceFile, func: ast.expr, depth: int = 4) -> bool:
    """Does what is called come from a table or a partial of layers, or from flax.linen by a computed name?"""
    if depth == 0:
        return False
    if isinstance(func, ast.Subscript):
        return is_maker(project, source, func.value, depth)
    if isinstance(func, ast.Dict | ast.List | ast.Tuple):
        items = func.values if isinstance(func, ast.Dict) else func.elts
        return any(is_maker(project, source, item, depth - 1) for item in items)
    if isinstance(func, ast.Call):
        name = project.qualname(source, func.func) or ""
        if name == "getattr" or (isinstance(func.func, ast.Name) and func.func.id == "getattr"):
            return bool(func.args) and project.qualname(source, func.args[0]) == "flax.linen"
        if name == "functools.partial":
            return bool(func.args) and is_maker(project, source, func.args[0], depth)
        asked = isinstance(func.func, ast.Attribute) and func.func.attr == "get"
        return asked and isinstance(func.func, ast.Attribute) and is_maker(project, source, func.func.value, depth)
    if not isinstance(func, ast.Name | ast.Attribute):
        return False
    name = project.qualname(source, func) or ""
    if layers.lookup(name) is not None or name in project.linen_classes or registered.entries(project, name):
        return True
    held = project.definition(name) if name else None
    value = getattr(held[1], "value", None) if held is not None else None
    return held is not None and isinstance(value, ast.expr) and is_maker(project, held[0], value, depth - 1)


def _others_make(
    project: Project, source: SourceFile, func: ast.expr, seen: set[ast.AST], owner: str, counted: bool
) -> bool:
    """Does a function or class method that is called make modules?"""
    inner = function_of(project, source, func)
    if inner is not None:
        return inner[1] not in seen and makes_modules(project, *inner, seen, counted=counted)
    name = project.qualname(source, func) or ""
    if owner and isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "cls":
        name = f"{owner}.{func.attr}"
    found = method_of(project, name)
    if found is None or found[1] in seen:
        return False
    return makes_modules(project, *found[:2], seen, owner=found[2], counted=counted)


def _is_whole_model(source: SourceFile, function: ast.FunctionDef | ast.Lambda, node: ast.Call) -> bool:
    """`Model(...).apply(...)`, `model = Model(...); model.init(...)`: a model of the function's own, no submodule."""
    parent = source.parents.get(node)
    held = parent.targets[0] if isinstance(parent, ast.Assign) and len(parent.targets) == 1 else None
    asked = ("init", "apply", "init_with_output")
    used = [n for n in subtree(function) if isinstance(n, ast.Attribute) and n.attr in asked]
    return any(n.value is node or (isinstance(held, ast.Name) and ast.unparse(n.value) == held.id) for n in used)


__all__ = ["is_maker", "kind_of", "makes_modules", "method_of"]
