"""Class methods and static methods of classes that are no modules, which make modules for the class that calls them:

    class Blocks:
        @staticmethod
        def conv(x, features): return nn.Conv(features, (3, 3))(x)
"""

from __future__ import annotations

import ast

from ..linen.modules.made_by_text import kind_of, method_of
from ..linen.project.index import Project
from ..source import SourceFile
from .object_methods import DATACLASSES

# How a callee is called, by its decorator.
KINDS = {"classmethod": "class method", "staticmethod": "static method"}


def method_of_class(project: Project, source: SourceFile, func: ast.expr) -> tuple[ast.FunctionDef, SourceFile, str] | None:
    """The method that `Blocks.conv` names, or `cls.conv` in another class method; with its kind."""
    if not isinstance(func, ast.Attribute):
        return None
    name = _around(source, func) or project.qualname(source, func) or ""
    found = method_of(project, name)
    if found is None:
        return None
    home, function, _ = found
    owner = home.parents[function]
    decorators = [d.func if isinstance(d, ast.Call) else d for d in getattr(owner, "decorator_list", ())]
    plain = all(project.qualname(home, d) in DATACLASSES for d in decorators)  # others may replace the method
    return (function, home, KINDS[kind_of(function)]) if plain else None


def _around(source: SourceFile, func: ast.Attribute) -> str:
    """The whole name of `cls.conv` by the class that it stands in."""
    around = list(source.ancestors(func))
    function = next((a for a in around if isinstance(a, ast.FunctionDef | ast.Lambda)), None)
    if not isinstance(function, ast.FunctionDef) or kind_of(function) != "classmethod":
        return ""
    first = [*function.args.posonlyargs, *function.args.args][:1]
    owner = source.parents[function]
    own = isinstance(func.value, ast.Name) and bool(first) and func.value.id == first[0].arg
    return f"{source.module}.{owner.name}.{func.attr}" if own and isinstance(owner, ast.ClassDef) else ""


__all__ = ["KINDS", "method_of_class"]
