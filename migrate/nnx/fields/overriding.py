"""Fields that replace a property of a base: `big: bool = True` where that has `@property def big(self)`.

Linen's dataclass keeps the default as an attribute of the class, which hides the property. So it stays there: an instance
could not be given the attribute otherwise, nor be made at all where the property is abstract.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.project.classes import ClassModel, Field
from ...linen.values.sites import Unmigratable
from ..classes.inheritance import plain_bases

if TYPE_CHECKING:
    from ..classes.class_text import ClassText


def fields(text: ClassText, model: ClassModel) -> list[Field]:
    """The fields of one class of a family that do so."""
    if not model.own_fields:
        return []
    above = [owner.node for owner in model.mro() if owner is not model]
    above += [base[1] for base in plain_bases(text, model.mro()) if base is not None]
    decorated = {s.name for node in above for s in node.body if isinstance(s, ast.FunctionDef) and s.decorator_list}
    return [field for field in model.own_fields if field.name in decorated]


def kept(text: ClassText) -> list[Field]:
    """Those of a class itself, which its text keeps. Raises Unmigratable."""
    found = fields(text, text.model)
    for field in found:
        if not isinstance(field.default, ast.Constant):
            reason = f"the field {field.name} has the name of a property of a base, and a default that is no constant"
            raise Unmigratable("NNX161", reason, field.node)
    return found


def names(text: ClassText) -> set[str]:
    """Those of all of the family, whose instances must hold them: the class has their defaults."""
    return {field.name for model in text.model.mro() for field in fields(text, model)}


__all__ = ["fields", "kept", "names"]
