"""The NNX idiom."""

from __future__ import annotations

from ...context import FileContext
from ...linen.flow import Flow
from .components import Component


def write(component: Component, flow: Flow, contexts: dict[str, FileContext]) -> bool:
    """Whether every use was understood."""
    return False
