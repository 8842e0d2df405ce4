"""Fields that are a module unless they are given another: `norm: nn.Module = nn.LayerNorm()`, or by a `default_factory`.

A class gets a module of its own of each, under the field's name. NNX's constructor would need that module's sizes and rngs.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...catalog import layers
from ...linen.project.classes import Field
from ...linen.values.sites import Unmigratable
from ..text.text_parts import short

if TYPE_CHECKING:
    from ..classes.class_text import ClassText


def refuse(text: ClassText) -> None:
    for name, field in text.run.fields.items():
        made = _made(text, field)
        if made is not None:
            reason = (
                f"the field `{name}` is `{short(made)}` unless it is given a module; give it None, and make that in the call"
            )
            raise Unmigratable("NNX127", reason, field.node)


def _made(text: ClassText, field: Field) -> ast.expr | None:
    """What makes a module where nothing is given."""
    if isinstance(field.default, ast.Call) and _is_module(text, field, field.default.func):
        return field.default
    factory = field.factory
    if isinstance(factory, ast.Lambda):
        made = factory.body
        return factory if isinstance(made, ast.Call) and _is_module(text, field, made.func) else None
    if isinstance(factory, ast.Call) and text.run.project.qualname(field.source, factory.func) == "functools.partial":
        return factory if factory.args and _is_module(text, field, factory.args[0]) else None
    return factory if factory is not None and _is_module(text, field, factory) else None


def _is_module(text: ClassText, field: Field, node: ast.expr) -> bool:
    name = text.run.project.qualname(field.source, node) or ""
    return name in text.run.project.linen_classes or layers.lookup(name) is not None


__all__ = ["refuse"]
