"""Constructors that check that two sizes are one; see `linen/lists/agreeing.py`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linen.lists.agreeing import Agreement

if TYPE_CHECKING:
    from ...edits import Parts
    from .class_text import ClassText


def _checked(text: ClassText) -> Iterator[Agreement]:
    """The agreements that a size of this constructor depends on."""
    said: set[tuple[str, str]] = set()
    for agreement in text.run.agreements.values():
        inputs = [atom.args for atom in agreement.first.atoms() if atom.kind == "input"]
        known = all(index in text.used.get(argument, ()) for argument, index in inputs)
        sizes = (agreement.first.text(), agreement.following.text())
        if known and sizes not in said:
            said.add(sizes)
            yield agreement


def lines(text: ClassText) -> list[Parts]:
    """Statements of the constructor that raise where the sizes differ."""
    out: list[Parts] = []
    for agreement in _checked(text):
        first, following = text.dim(agreement.first), text.dim(agreement.following)
        out.append((f"if {first} != {following}:",))
        listed = f"from `{agreement.container}`" if agreement.container else "of a list"
        message = f"`{first}` must be `{following}`, as a loop picks modules {listed} by number"
        out.append((text.source.indent_unit, f"raise ValueError({message!r})"))
    return out


def notes(text: ClassText) -> list[str]:
    """What the constructor takes to be equal."""
    return [
        f"`{text.dim(a.first)}` must be `{text.dim(a.following)}`, as a loop picks its modules; else the constructor fails"
        for a in _checked(text)
    ]


__all__ = ["lines", "notes"]
