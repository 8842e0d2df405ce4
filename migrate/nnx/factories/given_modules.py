"""Modules that a layer of the constructor is given, or a field holds, under the names that they have there."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...edits import Parts
from ...linen.modules.passed import attribute_name, held_modules
from ...linen.values.late_makes import names_in
from ...linen.values.merging import OptionalModule, dependencies_of
from ...linen.values.presence import asked
from ...linen.values.sites import BoundArg, DimPart, Module, Repeated, Site, SitePart, Unmigratable
from ...trees import subtree

if TYPE_CHECKING:
    from ...linen.execution.execute import Execution
    from ..classes.class_text import ClassText


def said(text: ClassText, bound: BoundArg, site: Site) -> Parts | None:
    """`self.Dense_0` for a layer that stands there or has a name in the method, `self.dense` for setup's."""
    value = bound.abs.value
    if isinstance(value, Repeated):
        return _items(text, value, site)
    if not isinstance(value, Module):
        return None
    place = text.names.places.get(value.site)
    alone = place is not None and place.kind == "attribute" and not value.element
    if site.in_setup:
        itself = alone and place is not None and bound.node is not None and ast.unparse(bound.node) == place.object
        return (place.object,) if itself and place is not None else None
    listed = place is not None and place.kind == "list" and not value.element
    if isinstance(value, OptionalModule) and (alone or listed):
        return _or_none(text, value, bound, site)
    if bound.node is value.site.node or (alone and isinstance(bound.node, ast.Name)):
        return (text.resolve(SitePart(value.site)),)
    return None


def _items(text: ClassText, value: Repeated, site: Site) -> Parts | None:
    """The modules that a loop of a compact method makes for another: `Ensemble([Member() for _ in range(self.n)])`.

    None where it is not certain that these, and no others, are the last ones of the constructor's list.
    """
    element = value.element
    if not isinstance(element, Module) or value.turned or value.part or value.under or not value.loop:
        return None
    made = element.site
    place = text.names.places.get(made)
    if place is None or place.kind != "list" or place.named_by or place.maker is not None or site.in_setup or made.in_setup:
        return None
    if made.conditions != site.conditions[: len(made.conditions)] or made.origin > site.origin:
        return None
    if _by_pass(made):
        return None
    lists = {s for s, other in text.names.places.items() if other.kind == "list" and other.object == place.object}
    beside = lists - {made}
    if not beside and len(made.loops) == 1:
        return (f"list({place.object})",)
    if made.loops[:-1] != site.loops or made.conditions != site.conditions:
        return None
    if value.count is None or any(made.origin < s.origin < site.origin for s in beside):
        return None
    if any(_changes_between(name, made, site) for name in value.count.dependencies()):
        return None
    count = text.resolve(DimPart(value.count, factor=True))
    return (f"list({place.object})[len({place.object}) - {count} :]",)


def _by_pass(made: Site) -> set[str]:
    """The names of a loop's passes that sizes of what it makes are said in: what is done with all of them has none."""
    names = {name for loop in made.loops for name in names_in(loop.target)}
    return names.intersection(*[frozenset().union(*[dependencies_of(bound.abs.value) for bound in made.bound.values()])])


def _changes_between(name: str, made: Site, site: Site) -> bool:
    """May a name be given another value between the two?"""
    function = made.source.function_of(made.node)
    if function is None or made.source is not site.source or site.source.function_of(site.node) is not function:
        return True
    stores = [n for n in subtree(function) if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)]
    begin, end = (made.node.lineno, made.node.col_offset), (site.node.end_lineno or 0, site.node.end_col_offset or 0)
    return any(begin <= (n.lineno, n.col_offset) <= end for n in stores)


def _or_none(text: ClassText, value: OptionalModule, bound: BoundArg, site: Site) -> Parts:
    """A module that is made under a condition, or None: `self.LayerNorm_0 if before else None`.

    Raises Unmigratable where the call may decide: Linen hands over what that call makes, and NNX what the first one made.
    """
    step, place = value.step, text.names.places[value.site]
    if step is not None and not step.deps and asked(step.text) is None and not bound.abs.flags:
        test = text.own_text(step.text if step.holds else f"not ({step.text})")
        listed = place.kind == "list"
        said = text.of_this_pass(value.site, place.object, asked=True) if listed else text.resolve(SitePart(value.site))
        return (f"{said} if {test} else None",)
    if place.kind != "attribute":
        raise Unmigratable("NNX127", "a submodule that is one of a list is passed on", value.site.node)
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
