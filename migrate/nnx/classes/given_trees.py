"""Classes that are given a dict or a list of arrays: `MLP()({"states": x, "actions": y})`, `Decoder()(levels)`.

Their sizes are those of what they make of it. Such a class takes an example of what it is called with.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...linen.lists.size_lists import SizeList
from ...linen.values.sites import Repeated, Site, Table, Unmigratable
from ...linen.values.values import Array, Tup, Value

if TYPE_CHECKING:
    from .class_text import ClassText


class TreeGiven(Exception):
    """A class is given a dict or list where it was taken to be given an array: it is planned anew."""

    def __init__(self, target: str, parameter: str) -> None:
        super().__init__(target, parameter)
        self.target, self.parameter = target, parameter


def check(text: ClassText, site: Site, origin: str, names: set[str], given: Mapping[str, Value]) -> None:
    """A dict or list has no shape that a size could be of.

    `origin`: what is asked of the arguments `names`; `given`: what the call gives for them.
    """
    for name in sorted(names):
        value = given.get(name)
        if not isinstance(value, Table) and not (_is_list(value) and re.search(rf"(?<![\w.]){name}\.shape\b", origin)):
            continue
        if name in text.analyser.given_trees.get(site.target, ()):
            kind = "dict" if isinstance(value, Table) else "list"
            reason = f"`{name}` of {site.target.rpartition('.')[2]} is a {kind} here, and its sizes are those of an array"
            raise Unmigratable("NNX110", reason, site.node)
        raise TreeGiven(site.target, name)


def _is_list(value: Value | None) -> bool:
    """Are these several arrays, one behind the other?"""
    if isinstance(value, Tup):
        return any(isinstance(item, Array) for item in value.items)
    return isinstance(value, SizeList) or (isinstance(value, Repeated) and isinstance(value.element, Array))


__all__ = ["TreeGiven", "check"]
