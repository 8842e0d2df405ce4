"""Fields that are a module unless they are given another: `norm: nn.Module = nn.LayerNorm()`, or by a `default_factory`.

Linen takes one copy of it for all the modules of a model that are given none, under the field's name in the first of them.
NNX's constructor would need its sizes and rngs, and whose it is. One that makes nothing is made by each, see
`linen/modules/default_modules.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ...catalog import layers
from ...linen.modules import default_modules
from ...linen.project.classes import ClassModel, Field
from ...linen.values.sites import Site, Unmigratable
from ...source import SourceFile
from ...trees import subtree
from ..text.text_parts import short

if TYPE_CHECKING:
    from ..classes.class_text import ClassText

_MAX_DEPTH = 4


def refuse(text: ClassText) -> None:
    handed = text.analyser.given_outside.handed.get(text.model.qualname, ())
    for name, field in text.run.fields.items():
        if name in handed:
            continue
        maker = _made(text, field)
        if maker is not None and not _is_template(text, field):
            instead = "give it None, and make that in the call"
            reason = f"the field `{name}` is `{short(maker)}` unless it is given a module; {instead}"
            raise Unmigratable("NNX127", reason, field.node)


def _is_template(text: ClassText, field: Field) -> bool:
    """Is it one that makes nothing, so that every module of the class may have its own?"""
    templates = text.analyser.templates(text.model.qualname).get(field.name, ())
    by_default = any(template.call is field.default for template in templates)
    return by_default and default_modules.makes_nothing(text.analyser, field)


def why_not_wrapped(text: ClassText, site: Site, model: ClassModel, reached: Iterable[str]) -> str:
    """Why a Linen module, with what its class makes, is another one where it is wrapped; "" where it is the same."""
    for field in model.fields():
        if field.name in site.bound or _made(text, field) is None:
            continue
        if _is_shared(text, field):
            return f"modules that are given no `{field.name}` share one"
        if field.factory is not None and not site.in_setup:
            return f"what it makes for its field `{field.name}` is a module of the class that constructs it"
    family = {base.qualname for base in model.mro()}
    inner = (text.analyser.classes.get(name) for name in reached if name not in family)
    for field in (field for found in inner if found is not None for field in found.own_fields):
        if _is_shared(text, field):
            return f"modules in it that are given no `{field.name}` share one with others of the model"
    return ""


def _is_shared(text: ClassText, field: Field) -> bool:
    """Is a field's default one module, with variables, of all that are given none?"""
    made = field.default is not None and _made(text, field) is not None
    return made and not default_modules.makes_nothing(text.analyser, field)


def _made(text: ClassText, field: Field) -> ast.expr | None:
    """What makes a module where nothing is given."""
    if isinstance(field.default, ast.Call) and _is_module(text, field.source, field.default.func):
        return field.default
    return field.factory if field.factory is not None and _makes(text, field.source, field.factory) else None


def _makes(text: ClassText, source: SourceFile, node: ast.expr, depth: int = 0) -> bool:
    """Does calling this make modules: a class of them, a function that calls one, or a partial of these?"""
    project = text.run.project
    if isinstance(node, ast.Call) and project.qualname(source, node.func) == "functools.partial" and node.args:
        return _makes(text, source, node.args[0], depth)
    if _is_module(text, source, node):
        return True
    found = None if isinstance(node, ast.Lambda) else project.definition(project.qualname(source, node) or "")
    home, function = found if found is not None else (source, node)
    if not isinstance(function, ast.Lambda | ast.FunctionDef) or depth > _MAX_DEPTH:
        return False
    calls = (n for n in subtree(function) if isinstance(n, ast.Call))
    return any(_makes(text, home, call.func, depth + 1) for call in calls)


def _is_module(text: ClassText, source: SourceFile, node: ast.expr) -> bool:
    name = text.run.project.qualname(source, node) or ""
    return name in text.run.project.linen_classes or layers.lookup(name) is not None


__all__ = ["refuse", "why_not_wrapped"]
