"""Items of lists of `setup`, and modules beside them, whose sizes no loop of the constructor follows: see `later_sizes`."""

from __future__ import annotations

from typing import Any

from ..values.sites import Site

UNSIZED = "unsized"  # the mark of such a module: why its size is not known when `setup` runs


def is_unsized(run: Any, site: Site, reason: str) -> bool:
    """May it be made for what it is called with, in a class that finds sizes by a call on shapes?"""
    if not (site.in_setup and site.kind in ("layer", "class") and run.model.qualname in run.analyser.later):
        return False
    site.renders[UNSIZED] = reason
    return True


__all__ = ["UNSIZED", "is_unsized"]
