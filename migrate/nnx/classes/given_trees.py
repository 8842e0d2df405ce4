"""Classes that are given a dict of arrays somewhere, and arrays elsewhere: `MLP()({"states": x, "actions": y})`.

Their sizes are those of what they make of it. Such a class takes an example of what it is called with.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...linen.values.sites import Site, Table, Unmigratable
from ...linen.values.values import Value

if TYPE_CHECKING:
    from .class_text import ClassText


class TreeGiven(Exception):
    """A class is given a dict where it was taken to be given an array: it is planned anew."""

    def __init__(self, target: str, parameter: str) -> None:
        super().__init__(target, parameter)
        self.target, self.parameter = target, parameter


def check(text: ClassText, site: Site, names: set[str], given: Mapping[str, Value]) -> None:
    """A dict has no shape that a size could be of. `names`: of arguments; `given`: what the call gives for them."""
    for name in sorted(names):
        if not isinstance(given.get(name), Table):
            continue
        if name in text.analyser.given_trees.get(site.target, ()):
            reason = f"`{name}` of {site.target.rpartition('.')[2]} is a dict here, and its sizes are those of an array"
            raise Unmigratable("NNX110", reason, site.node)
        raise TreeGiven(site.target, name)


__all__ = ["TreeGiven", "check"]
