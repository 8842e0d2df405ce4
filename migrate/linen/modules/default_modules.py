"""Modules that fields hold unless they are given another, where these make nothing: `input_layer: nn.Module = ArrayInput()`.

Linen makes the default once, with the class, and takes one copy of it for all modules of a model that are given none: they
share its variables, random streams and sown values. One that has none of these serves as well if each has its own, so that
it is a template, like those that code outside of modules hands over.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from ...source import SourceFile
from ..project.classes import Classes, Field
from ..values.sites import Abs
from ..values.values import Unknown
from .stateless import without_state


def is_one(project: Any, field: Field) -> bool:
    """Is a field's default a module of a class of the project's, and of no name of its own?"""
    default = field.default
    if not isinstance(default, ast.Call) or any(k.arg in ("name", "parent", None) for k in default.keywords):
        return False
    return project.qualname(field.source, default.func) in project.linen_classes


def calls(classes: Classes, qualname: str) -> Mapping[str, tuple[SourceFile, ast.Call]]:
    """Field → what makes the module that it is by default, for the fields that a class declares."""
    model = classes.get(qualname)
    fields = model.own_fields if model is not None else ()
    return {
        field.name: (field.source, field.default)
        for field in fields
        if isinstance(field.default, ast.Call) and field.init and is_one(classes.project, field)
    }


def makes_nothing(analyser: Any, field: Field) -> bool:
    """Has the default no variables, modules, random streams or sown values?"""
    if not is_one(analyser.classes.project, field):
        return False
    assert isinstance(field.default, ast.Call)
    target = analyser.classes.project.qualname(field.source, field.default.func)
    return without_state(analyser, target) is not None


def value_of(run: Any, field: Field) -> Abs:
    """What a field is by default. Such a module is none of those that the class makes which leaves it out."""
    if makes_nothing(run.analyser, field):
        return Abs(Unknown(f"the module that {field.name} is by default"))
    found: Abs = run.constant(field.default, field.source)
    return found


__all__ = ["calls", "is_one", "makes_nothing", "value_of"]
