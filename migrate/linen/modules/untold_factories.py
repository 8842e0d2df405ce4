"""Factories in fields that nothing gives: what stands in for them, what classes beside are given, what their names say."""

from __future__ import annotations

from typing import Any

from . import fallback_factories, named_factories, neighbour_factories


def learn(analyser: Any) -> bool:
    """Take such fields for what is shown best; True where that is news."""
    return any(one.learn(analyser) for one in (fallback_factories, neighbour_factories, named_factories))


__all__ = ["learn"]
