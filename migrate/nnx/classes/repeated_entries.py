"""What several public methods make at one place: a compact method that `forward` and `inverse` both call.

    @nn.compact
    def net(self, x):
        return nn.Dense(4)(nn.relu(nn.Dense(8)(x)))

    def forward(self, x):
        return x + self.net(x)

    def inverse(self, y):
        return y - self.net(y)

Linen counts names anew for every call of a model, so both ways lead to the same parameters. The constructor makes them
once, as the first of these methods needs them: in Linen the sizes of the other must be the same, or its call fails. So it
is with two calls in one method that is not compact itself (`linen.modules.compact_calls`).
"""

from __future__ import annotations

import ast
from collections.abc import Set
from typing import TYPE_CHECKING

from ...edits import Parts
from ...linen.values.sites import Block, Local, Site, Unmigratable, steps_of
from ..text.naming import Place, several_of
from . import constructions

if TYPE_CHECKING:
    from .class_text import ClassText


def find(text: ClassText) -> None:
    """Note the sites that are those of an earlier method once more. Raises Unmigratable where they might be others."""
    known: dict[tuple[object, ...], Site] = {}
    for site in text.run.sites:
        if site.kind == "rng" or site.lazy or site.in_setup or site not in text.names.places:
            continue
        first = text.names.again.get(site) or known.setdefault(site.place_key(), site)
        if first.method == site.method and site not in text.names.again:
            continue
        mine, others = ([(id(node), calltime) for node, calltime in s.conditions] for s in (site, first))
        alike = text.names.places[first] == text.names.places[site] and len(first.loops) == len(site.loops)
        if not alike or not set(others) <= set(mine) or site.alternatives or site.scopes:
            raise several_of(site)
        text.again[site] = first
        site.call = first.call
    kept: dict[tuple[str, str], Place] = {}
    for held in text.names.lists:
        kept.setdefault((held.attribute, held.named_by), held)
    if len(kept) < len(text.names.lists):
        _check_lists(text)
        text.names.lists = list(kept.values())


def _check_lists(text: ClassText) -> None:
    """Of two methods that fill one list the second must bring nothing of its own."""
    fills: dict[str, set[str]] = {}
    for site, place in text.names.places.items():
        if place.kind == "list" and site not in text.again:
            fills.setdefault(place.attribute, set()).add(site.method)
            if len(fills[place.attribute]) > 1:
                reason = f"{place.attribute} modules made by several methods cannot be numbered"
                raise Unmigratable("NNX153", reason, site.node)


def check(text: ClassText) -> None:
    """The constructor would say the same for both. Raises Unmigratable where it would not."""
    used = {argument: set(sizes) for argument, sizes in text.used.items()}
    optional, notes = set(text.optional), list(text.notes)
    for site, first in text.again.items():
        text.needs = set()
        if _said(text, site) != _said(text, first):
            raise several_of(site)
        names = set(text.needs)
        here, there = (_assigned(text, text.run.blocks[s.method], names) for s in (site, first))
        if here != there or any(len(said) > 1 for said in here.values()):
            raise several_of(site)
    text.used, text.optional, text.notes = used, optional, notes  # the second one asks for nothing


def _said(text: ClassText, site: Site) -> object:
    """What the constructor says of a site, but for the shape of a parameter: Linen checks that itself."""
    if site.kind != "param":
        lines = constructions.site_lines(text, site)
        return lines.before, lines.expression
    if not site.init_localized:  # made by a call on shapes: what it starts from is said there
        raise several_of(site)
    init, *rest = site.init_localized
    said = [text.expression(part, site) for part in (init, *rest[1:])]
    keywords = {k: text.expression(v, site) for k, v in site.renders.items() if k.startswith("kw:") and k != "kw:shape"}
    return said, keywords, {k: v for k, v in site.renders.items() if k in ("dtype", "axes")}, site.number


def _assigned(text: ClassText, block: Block, names: Set[str]) -> dict[ast.stmt, set[Parts]]:
    """The statements that give these names values in one method, and those that they need: as the constructor says them."""
    needed = set(names)
    while True:
        steps = [step for step in steps_of(block) if isinstance(step, Local) and step.names & needed]
        more = {name for step in steps for name in step.localized.needs} - needed
        if not more:
            found: dict[ast.stmt, set[Parts]] = {}
            for step in steps:
                found.setdefault(step.statement, set()).add(text.said(step.localized))
            return found
        needed |= more


__all__ = ["check", "find"]
