"""Ensembles whose members are made when the class was called once: `nn.vmap(MLP, ...)(dims)(x)` of a width unknown before.

The call on shapes maps over members that are not there yet, so that it makes one; the constructor then makes them all, each
with parameters of its own.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from ...edits import Parts
from ...linen.lifted.lifting import members_needed
from ...linen.values.sites import Site
from ..lifted.lifted import axes_said, is_split, stack_metadata, treatment, used_by
from ..text.text_parts import joined

if TYPE_CHECKING:
    from .class_text import ClassText


def is_fit(text: ClassText, site: Site) -> bool:
    """Is it a plain ensemble: one vmap of a class, along the first axis, that draws parameters and nothing else?

    Or one module that is computed anew for its derivative: `nn.remat(Block)(4)(x)`.
    """
    factory = site.factory
    if factory is None or factory.chosen_by not in ("", factory.field):
        return False
    if is_alone(site):
        return not site.scopes
    if len(site.lifted) != 1 or site.scopes or site.lifted[0].kind != "vmap":
        return False
    (vmap,) = site.lifted
    used = used_by(text, site)
    if used.streams - {"params"} or not used.collections <= {"params"} or treatment(vmap, used, True) != ("stacked", 0):
        return False
    return is_split(vmap) and axes_said(text, vmap, used, 0, method=False) == "0" and not stack_metadata(text, vmap)


def is_alone(site: Site) -> bool:
    """Is it one module, which no transform stacks?"""
    return all(lifted.kind in ("remat", "jit") for lifted in site.lifted)


def member(site: Site) -> Site:
    """One of the modules that a transform stacks, if one does."""
    if not site.lifted:
        return site
    return dataclasses.replace(site, lifted=(), renders={**site.renders, "spelled": True})  # by its class, or its field


def said(text: ClassText, site: Site, make: Parts) -> Parts:
    """What stands for the stack: with what makes one of it, and how many there are."""
    count = text.dim(members_needed(text.run, site.lifted[0]))
    return joined((text.namer.parity("LaterStack"),), [make, (count,)])


__all__ = ["is_alone", "is_fit", "member", "said"]
