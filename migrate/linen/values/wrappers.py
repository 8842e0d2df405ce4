"""Layers without variables of their own around others or around functions: nn.RNN, nn.Sequential, nn.BatchApply.

In a compact method they are made where they are called, and the constructor has nothing for them.
"""

from __future__ import annotations

from ...catalog import layers
from .sites import Site


def is_wrapper(site: Site) -> bool:
    """Is a site such a layer?"""
    layer = layers.lookup(site.target) if site.kind == "layer" else None
    return layer is not None and layer.wrapper and not site.lifted


__all__ = ["is_wrapper"]
