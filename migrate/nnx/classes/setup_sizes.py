"""How a site is constructed, where the sizes that it asks for are known when `setup` runs.

Those that only a branch, a loop or the last item of a list tells are found by a call on shapes, as far as the class has one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...linen.lists.unsized_items import is_unsized
from ...linen.values.sites import Site, Unmigratable
from ..setup import carried
from . import later_sizes

if TYPE_CHECKING:
    from ..text.text_parts import InitLines
    from .class_text import ClassText


def site_lines(text: ClassText, site: Site) -> InitLines:
    """The constructor's lines for a site; `text.needs` are the sizes that these ask for."""
    lines = _lines(text, site)
    try:
        _check(text, site)
    except Unmigratable as error:
        if error.code != "NNX114" or not is_unsized(text.run, site, error.reason):
            raise
        text.run.carried.pop(site, None)
        lines = _lines(text, site)
    return lines


def _lines(text: ClassText, site: Site) -> InitLines:
    text.needs, text.building = set(), site
    text.closing = site.in_setup and site not in text.run.carried
    lines = later_sizes.site_lines(text, site)
    text.closing, text.building = False, None
    return lines


def _check(text: ClassText, site: Site) -> None:
    run, needs = text.run, text.needs
    told = run.trackers | run.width_names  # by what the call does
    unmet = needs & told if site.in_setup and site not in run.carried else set()
    if site.in_setup and site in run.carried:
        parts = [one for one in run.carried if one is site.item_of() or one.item_of() is site.item_of()]
        own = {tracker for part in parts for tracker, _, _ in run.carried[part]}
        if needs & told - own - carried.available(run, site) - carried.around(run, site):
            raise Unmigratable("NNX114", "a size of setup depends on what a loop of the call takes from a list", site.node)
    carried.check_passes(run, site, needs)
    carried.check_time(run, site)
    if needs & set(run.before_last):
        raise Unmigratable("NNX114", "a size is asked for that is known before the last item of a list only", site.node)
    if unmet - (carried.available(run, site) if unmet else set()):
        raise Unmigratable("NNX114", "a size of setup depends on a branch or loop of the call", site.node)


__all__ = ["site_lines"]
