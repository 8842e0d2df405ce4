"""Layers whose compute dtype only the call knows: `nn.Dense(4, dtype=x.dtype)(x)`.

Linen makes such a layer anew at every call. In NNX it is made once, without a dtype, and the method asks for one that has
the same variables and computes in what it says there: `computing_in(self.Dense_0, x.dtype)(x)`.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from ...catalog import layers
from ...edits import Parts
from ...linen.values.sites import Site
from ...trees import subtree
from . import flag_names

if TYPE_CHECKING:
    from ..classes.class_text import ClassText
    from ..classes.class_write import ClassWriter

FIELD = "dtype"


def of_call(text: ClassText, site: Site) -> bool:
    """Is the dtype of a layer said by the method alone, in an expression that stands where the layer is made?"""
    bound, layer = site.bound.get(FIELD), layers.lookup(site.target)
    if bound is None or layer is None or not layer.dtype_when_called or site.kind != "layer":
        return False
    if bound.localized is not None or bound.text is not None or not bound.given or bound.node is None:
        return False
    if site.in_setup or site.held or site.passed or site.choice or site.alternatives or site.lazy:
        return False
    if site.lifted or site.scopes or site.holder != "self" or text.is_wrapper(site):
        return False
    around = set(site.source.ancestors(site.node))
    if site.through and not site.through[-1].slot:
        return False
    if not site.through and not any(base.source is site.source and base.node in around for base in text.model.mro()):
        return False  # of a mixin that is no module
    return any(node is bound.node for node in subtree(site.node))


def unset(text: ClassText, site: Site, built: layers.Built) -> layers.Built:
    """The constructor call without a dtype that the method says."""
    if not of_call(text, site):
        return built
    return dataclasses.replace(built, keywords=tuple(pair for pair in built.keywords if pair[0] != FIELD))


def written(writer: ClassWriter, site: Site, said: Parts) -> Parts:
    """The reference to a layer, `said`, as what computes in the dtype of the call."""
    if not of_call(writer.text, site):
        return said
    node = site.bound[FIELD].node
    dtype = flag_names.words(writer.run, site.source, node)
    return (f"{writer.namer.parity('computing_in')}(", *said, ", ", dtype, ")")


def in_function(writer: ClassWriter, site: Site, slot: str) -> tuple[Parts, tuple[str, ...]]:
    """What stands in a helper function for the layer that it is handed, and the part of the parity module for it."""
    if not of_call(writer.text, site):
        return (slot,), ()
    return (f"linen_parity.computing_in({slot}, ", site.source.span(site.bound[FIELD].node), ")"), ("computing_in",)


__all__ = ["FIELD", "in_function", "of_call", "unset", "written"]
