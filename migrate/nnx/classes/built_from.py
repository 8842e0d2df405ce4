"""What the expressions of a constructor were built with: they are built anew only where that has changed."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from ..text.text_parts import Recorder

if TYPE_CHECKING:
    from .class_text import ClassText


@dataclasses.dataclass(frozen=True)
class BuiltFrom:
    """Names, sizes and all else, see `inputs_of`."""

    names: Recorder
    inputs: object
    sizes: dict[str, set[str]]  # what those of an argument are called may change, once more of them are asked for

    def holds_for(self, text: ClassText) -> bool:
        """Would they be the same if they were built anew? The names are asked for, as they would be."""
        sizes = dict(self.sizes)  # asking for a name notes it
        same = self.inputs == inputs_of(text) and all({text.size_name(a)} == said for a, said in sizes.items())
        return same and self.names.holds_for(text.namer)


def inputs_of(text: ClassText) -> object:
    """What the constructor's expressions follow from, as far as planning and building change it."""
    return (
        (text.call_example, tuple(text.examples.items()), tuple(text.later), tuple(text.streams.items())),
        (text.bound, text.shadowed, text.inner),
        {site: tuple(sizes) for site, sizes in text.run.carried.items()},
        [text.plans.get(site.target) for site in text.run.sites],
    )


__all__ = ["BuiltFrom", "inputs_of"]
