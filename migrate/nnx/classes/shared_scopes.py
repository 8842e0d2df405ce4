"""`nn.share_scope` in NNX: an attribute says which submodules' variables Linen stores as the module's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ... import shared_lines
from ...edits import Parts
from ...linen.values.sites import Unmigratable
from ..calls import sown

if TYPE_CHECKING:
    from .class_text import ClassText
    from .class_write import ClassWriter

ATTRIBUTE = "shares_scope"  # read by compat.from_linen and linen_parity.linen_paths


def check(text: ClassText) -> list[str]:
    """The attributes of the submodules; raises Unmigratable where one cannot be said, or keeps what it is called for."""
    found: list[str] = []
    for shared in text.run.shared_scopes:
        for site in shared.sites:
            place = text.names.places.get(site)
            if place is None or place.kind != "attribute" or place.named_by or "." in place.attribute:
                raise Unmigratable("NNX131", "the module that `nn.share_scope` is given is one of a list", site.node)
            if sown.below([site], text.plans):
                raise Unmigratable("NNX131", "the module that `nn.share_scope` is given sows values", site.node)
            if place.attribute not in found:
                found.append(place.attribute)
    taken = {*text.run.fields, *text.run.attributes, *text.model.methods()}
    if found and ATTRIBUTE in taken:
        raise Unmigratable("NNX131", f"the class has `{ATTRIBUTE}` for something else", text.model.node)
    return found


def lines(text: ClassText) -> list[Parts]:
    """The constructor's line."""
    names = check(text)
    if not names:
        return []
    said = ", ".join(map(repr, names))
    return [(f"self.{ATTRIBUTE} = ({said}{',' if len(names) == 1 else ''})  # Linen has no level of their own for these",)]


def edits(writer: ClassWriter) -> None:
    """The statements go."""
    for source in {shared.source for shared in writer.run.shared_scopes}:
        for span in shared_lines.removals(source, [s.statement for s in writer.run.shared_scopes if s.source is source]):
            writer.remove(source, span)


__all__ = ["ATTRIBUTE", "check", "edits", "lines"]
