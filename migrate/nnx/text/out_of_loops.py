"""Modules of loops beside others of their class of which the call on shapes makes as many as it comes by.

The call then counts them all, and the constructor says once what makes those of a loop, ahead of it:

    for key in self.keys:                                   self.Dense[0] = Later(...)
        xs.append(nn.Dense(self.width)(inputs[key]))        self.Dense[1] = Later(...)
    if "state" in inputs:
        y = nn.Dense(self.width)(inputs["state"])
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ...linen.modules.by_sizes import BY_SIZES
from ...linen.values.sites import Block, Branch, DimPart, For, InitPart, LocalizedPart, Make, ShapePart, Site
from ...trees import subtree


def take(block: Block, sites: Sequence[Site]) -> bool:
    """Have the constructor make what loops make ahead of them; False where a pass may make another than the others do."""
    looped = [site for site in sites if site.loops]
    if not all(_is_alike(site) for site in looped):
        return False
    for site in looped:
        if not _move(block, site):
            return False
        inside = _inside(site)  # a maker that no pass asks for makes nothing
        site.loops, site.conditions = (), tuple(held for held in site.conditions if id(held[0]) not in inside)
    return True


def _inside(site: Site) -> set[int]:
    return {id(part) for loop in site.loops for part in subtree(loop.node)}


def _is_alike(site: Site) -> bool:
    """Is it made of the same in every pass that makes it, and do fields say which do?"""
    loops = [loop.node for loop in site.loops]
    if any(isinstance(loop, ast.comprehension) for loop in loops) or site.name is not None:
        return False
    inside = _inside(site)
    by_sizes = site.renders.get(BY_SIZES, ())
    if any(calltime and id(asked) in inside and asked not in by_sizes for asked, calltime in site.conditions):
        return False
    changed = {n.id for loop in loops for n in subtree(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for bound in site.bound.values():
        said = bound.localized
        read = {n.id for n in subtree(bound.node) if isinstance(n, ast.Name)} if bound.node is not None else set()
        if said is not None and (said.needs & changed or read & changed):
            return False
        if said is not None and not all(map(_is_of_fields, (part for _, parts in said.replaced for part in parts))):
            return False
    return True


def _is_of_fields(part: InitPart) -> bool:
    """Is it a text, or a size that fields alone say?"""
    if isinstance(part, DimPart):
        return all(atom.kind == "field" for atom in part.dim.atoms())
    return not isinstance(part, ShapePart | LocalizedPart)


def _move(block: Block, site: Site) -> bool:
    """Move the step that makes a site ahead of the loops around it."""
    for place, step in enumerate(block.steps):
        if isinstance(step, For) and _drop(step.body, site):
            block.steps.insert(place, Make(site))
            return True
        if isinstance(step, Branch) and (_move(step.then, site) or _move(step.orelse, site)):
            return True
    return False


def _drop(block: Block, site: Site) -> bool:
    for step in block.steps:
        if isinstance(step, Make) and step.site is site:
            block.steps.remove(step)
            return True
        if isinstance(step, For) and _drop(step.body, site):
            return True
        if isinstance(step, Branch) and (_drop(step.then, site) or _drop(step.orelse, site)):
            return True
    return False


__all__ = ["take"]
