"""Modules that a layer of the constructor is given, or a field holds, under the names that they have there."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...edits import Parts
from ...linen.modules.passed import attribute_name, held_modules
from ...linen.values.merging import OptionalModule
from ...linen.values.presence import asked
from ...linen.values.sites import BoundArg, Module, Site, SitePart, Unmigratable
from ...trees import subtree

if TYPE_CHECKING:
    from ...linen.execution.execute import Execution
    from ..classes.class_text import ClassText


def said(text: ClassText, bound: BoundArg, site: Site) -> Parts | None:
    """`self.Dense_0` for a layer that stands there or has a name in the method, `self.dense` for setup's."""
    value = bound.abs.value
    if not isinstance(value, Module):
        return None
    place = text.names.places.get(value.site)
    alone = place is not None and place.kind == "attribute" and not value.element
    if site.in_setup:
        itself = alone and place is not None and bound.node is not None and ast.unparse(bound.node) == place.object
        return (place.object,) if itself and place is not None else None
    if isinstance(value, OptionalModule) and alone and place is not None:
        return _or_none(text, value, bound, site)
    if bound.node is value.site.node or (alone and isinstance(bound.node, ast.Name)):
        return (text.resolve(SitePart(value.site)),)
    return None


def _or_none(text: ClassText, value: OptionalModule, bound: BoundArg, site: Site) -> Parts:
    """A module that is made under a condition, or None: `self.LayerNorm_0 if before else None`.

    Raises Unmigratable where the call may decide: Linen hands over what that call makes, and NNX what the first one made.
    """
    step, place = value.step, text.names.places[value.site]
    if step is not None and not step.deps and asked(step.text) is None and not bound.abs.flags:
        test = text.own_text(step.text if step.holds else f"not ({step.text})")
        return (f"{text.resolve(SitePart(value.site))} if {test} else None",)
    if bound.abs.flags or (step is not None and asked(step.text) is not None) or not _by_fields(value.site):
        made = site.target.rpartition(".")[2]
        raise Unmigratable(
            "NNX113", f"{made} is given a module or None, and which of them may be another in each call", site.node
        )
    return (f"getattr(self, {place.attribute!r}, None)",)


def _by_fields(site: Site) -> bool:
    """Do the conditions around a module name nothing that its method binds?"""
    names = site.source.names
    for node in site.source.ancestors(site.node):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            return True
        tests = [node.test] if isinstance(node, ast.If | ast.IfExp) else []
        for part in (n for test in tests for n in subtree(test) if isinstance(n, ast.Name)):
            if part.id != "self" and names.is_hidden(part.id, part):
                return False
    return True


def attribute(text: ClassText, run: Execution, field: str, path: list[str]) -> str:
    """How NNX calls an attribute, or one of an attribute, of what a field holds, which may be handed on in turn."""
    kinds = {module.site.target for name, module in held_modules(run) if name == field and module.site.kind == "class"}
    if len(path) == 1 or len(kinds) != 1:
        return ".".join([_held(text, run, field, path[0]), *path[1:]])
    text.analyser.read_attributes.add(path[0])
    inner = text.analyser.execution(kinds.pop())
    return f"{path[0]}.{attribute(text, inner, path[0], path[1:])}"


def _held(text: ClassText, run: Execution, field: str, name: str) -> str:
    """How NNX calls an attribute of what a field holds; of a class of the project it is then read from outside."""
    names = set()
    for held, module in held_modules(run):
        if held == field:
            names.add(attribute_name(module.site, name))
            if module.site.kind == "class":
                text.analyser.read_attributes.add(name)
    if not names:
        return name
    found = names.pop()
    if names or found is None:
        raise Unmigratable("NNX127", f"`{name}` of what is passed as `{field}` is kept under different names")
    return found


__all__ = ["attribute", "said"]
