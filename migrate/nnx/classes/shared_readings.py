"""Methods that classes share read a variable one way.

What a call on shapes makes for one class (see `later_sizes`) it makes for all of them, and what may be several arrays in one
is read as a whole in all. A base whose property says nothing yet (`def shared(self) -> bool: ...`) knows less of a shape
than the class that derives from it.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.modules.made_later import LATER, SEVERAL
from ...linen.values.sites import Site

if TYPE_CHECKING:
    from .class_text import ClassText


class Agreed(Exception):
    """More is read in the way of another class than before: the classes are to be followed again."""


def agree(one: ClassText, other: ClassText) -> None:
    """Where the texts of two classes differ: let both read so what one of them does. Raises Agreed if that is new."""
    analyser = one.analyser
    known, others = _variables(one), _variables(other)
    sides = [(node, known[node], others[node]) for node in known.keys() & others.keys()]
    late = {(node, LATER) for node, a, b in sides if (LATER in a.renders) != (LATER in b.renders)}
    wanted = late | {(node, SEVERAL) for node, a, b in sides if a.several != b.several}
    if wanted <= analyser.shared_readings:
        return
    analyser.shared_readings |= wanted
    if late:
        analyser.later |= {one.model.qualname, other.model.qualname}
    raise Agreed


def _variables(text: ClassText) -> dict[ast.AST, Site]:
    return {site.node: site for site in text.run.sites if site.kind in ("param", "variable")}


__all__ = ["Agreed", "agree"]
