"""Arguments of modules that ask whether the call is given an array: `Block(cross=context is not None)(x, context)`.

    given = context_features is not None
    self.Block_0 = linen_parity.made_with(Block(cross=given, rngs=rngs), cross=given)
    ...
    x = linen_parity.only_with(self.Block_0, cross=context is not None)(x, context)

The constructor asks whether it is given the size of the array. Linen makes the module anew in each call: one that is given
the array where the constructor was not, or the other way round, raises.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...edits import Parts
from ...linen.modules import made_later
from ...linen.values.sites import BoundArg, Site
from ...trees import subtree
from ..calls import flag_names
from ..text.text_parts import joined

if TYPE_CHECKING:
    from .class_text import ClassText
    from .class_write import ClassWriter

ASKED = "asked of arrays"  # of a site: argument → (what the constructor says, what the call says)
CODE = "NNX189"


def argument(text: ClassText, site: Site, name: str, bound: BoundArg) -> Parts | None:
    """What the constructor gives for such an argument; None where it is another, or not asked where the module is called."""
    site.renders.get(ASKED, {}).pop(name, None)
    if bound.localized is not None or bound.text is not None or bound.asked is None or bound.node is None:
        return None
    if any(isinstance(n, ast.Call | ast.Lambda) for n in subtree(bound.node)):
        return None  # each call would have another of them
    if not _is_made_here(text, site, bound.node) or not bound.given:
        return None
    said = text.said(bound.asked)
    site.renders.setdefault(ASKED, {})[name] = (said, bound.node)
    return said


def _is_made_here(text: ClassText, site: Site, node: ast.expr) -> bool:
    """Does a method of the class make the module in its own words, and only call it?"""
    if site.in_setup or site.held or site.passed or site.adopted or site.choice or site.alternatives or site.through:
        return False
    if site.lifted or site.scopes or site.holder != "self" or site.foreign or not site.calls or text.is_wrapper(site):
        return False
    if any(env.source is not site.source for _, _, env in site.calls) or site in text.again or site in text.again.values():
        return False
    own = made_later.method_of(text.run, site.source, site.node) is not None
    return own and site.node in site.source.ancestors(node)


def made(text: ClassText, site: Site, inner: Parts) -> Parts:
    """The construction, which remembers what it was given."""
    asked = site.renders.get(ASKED)
    if not asked:
        return inner
    values = [part for name, (said, _) in asked.items() for part in (f", {name}=", *said)]
    return (text.namer.parity("made_with"), "(", *inner, *values, ")")


def written(writer: ClassWriter, site: Site, held: Parts) -> Parts:
    """How the call says the module: with what it gives it."""
    asked = site.renders.get(ASKED)
    if not asked or site in writer.text.later:
        return held
    values: list[Parts] = [(f"{n}=", flag_names.words(writer.run, site.source, node)) for n, (_, node) in asked.items()]
    return joined((writer.namer.parity("only_with"),), [held, *values])


def note(site: Site) -> str:
    """What the report says of it."""
    name = site.target.rpartition(".")[2]
    said = ", ".join(f"`{n}`" for n in site.renders[ASKED])
    return f"{name} is made with {said} as the constructor is given sizes; a call that asks for another raises"


__all__ = ["ASKED", "CODE", "argument", "made", "note", "written"]
