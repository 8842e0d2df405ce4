"""Constructors that check that a field names the collection of their variables; see `linen/modules/settled_fields.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...edits import Parts
    from .class_text import ClassText


def lines(text: ClassText) -> list[Parts]:
    """Statements of the constructor that raise for another name."""
    out: list[Parts] = []
    for name, value in sorted(text.analyser.settled.get(text.model.qualname, {}).items()):
        out.append((f"if {name} != {value!r}:",))
        out.append((text.source.indent_unit, f"raise ValueError(\"`{name}` must be '{value}', the type of its variables\")"))
    return out


__all__ = ["lines"]
