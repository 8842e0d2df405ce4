"""What the constructor of a class that reads `self.name` is given: the name that Linen gives the module."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...edits import Parts
from ...linen.project.own_name import NAME, is_asked
from ...linen.values.sites import Site, Unmigratable

if TYPE_CHECKING:
    from .class_text import ClassText


def argument(text: ClassText, site: Site) -> list[Parts]:
    """`name="Encoder_0"`, where the construction does not say it among its fields."""
    if not is_asked(text.analyser.classes.get(site.target)):
        return []
    factory = site.factory
    if site.lifted or site.alternatives or factory is None or factory.field or factory.chosen_by or factory.name is not None:
        raise _unknown(site)
    if site.bound[NAME].given:
        return []
    place = text.names.places.get(site)
    if site.in_setup:
        name = _attribute(site)
    else:
        name = place.attribute if place is not None and place.kind == "attribute" and not place.named_by else ""
    if not name or site.adopted or (site.in_setup and site.passed):
        raise _unknown(site)  # what a compact method makes is the method's own before it is passed on
    return [(f'{NAME}="{name}"',)]


def refuse_handed(text: ClassText) -> None:
    """A module that no module made is named after what holds it: its constructor does not know that."""
    outside = text.analyser.given_outside
    if text.model.qualname not in {*outside.handed, *outside.refused, *text.analyser.outside_chains}:
        return
    for site in text.run.sites:
        if site.held and is_asked(text.analyser.classes.get(site.target)):
            raise _unknown(site)


def _attribute(site: Site) -> str:
    """The attribute to which `setup` assigns the module itself; "" where it is an item, or given away."""
    statement = site.source.parents.get(site.node)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or site.loops:
        return ""
    (target,) = statement.targets
    of_self = isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self"
    return target.attr if isinstance(target, ast.Attribute) and of_self else ""


def _unknown(site: Site) -> Unmigratable:
    name = site.target.rpartition(".")[2]
    return Unmigratable("NNX164", f"{name} reads `self.{NAME}`, which is not known where it is made here", site.node)


__all__ = ["argument", "refuse_handed"]
