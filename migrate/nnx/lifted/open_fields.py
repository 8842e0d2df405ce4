"""Fields that a class calls and of which nothing here tells what they are: a module there may draw random numbers."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ...linen.execution.execute import Execution
from ...linen.modules.given_functions import PartialFunction
from ...linen.values.sites import Function, Site, Unmigratable
from ...linen.values.values import Const, Global

if TYPE_CHECKING:
    from ..classes.class_text import ClassText


def called(run: Execution, nodes: Iterable[ast.AST]) -> frozenset[str]:
    """The fields without defaults that are called there, and hold no module that the project gives."""
    fields = {name for name, field in run.fields.items() if field.default is None and field.factory is None}
    functions = (n.func for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute))
    asked = {f.attr for f in functions if isinstance(f.value, ast.Name)}
    return frozenset(asked & fields - run.held.keys())


def of_site(writer: ClassText, site: Site) -> bool:
    """Does the class of a site call a field for which the site gives no function?"""
    model = writer.analyser.classes.get(site.target)
    if model is None:
        return False
    try:
        run = writer.analyser.execution(site.target)
    except Unmigratable:
        return False
    asked = called(run, (node for method in model.methods().values() for node in method.nodes))
    values = (site.bound[name].abs.value if name in site.bound else None for name in asked)
    return any(not isinstance(value, Function | Global | PartialFunction | Const) for value in values)


__all__ = ["called", "of_site"]
