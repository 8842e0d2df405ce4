"""The random streams that a layer draws from when it is called, as it is configured where it is made."""

from __future__ import annotations

from ..catalog import layers
from ..linen.sites import Site


def streams_of(site: Site) -> frozenset[str]:
    """The streams of the layers that a site may make: `nn.Dropout(rng_collection='noise')` draws from `noise`."""
    found: set[str] = set()
    for kind in (site, *site.alternatives):
        layer = layers.lookup(kind.target)
        if kind.kind == "layer" and layer is not None:
            found |= layer.streams_of({name: layers.Arg(("",), bound.abs.value) for name, bound in kind.bound.items()})
    return frozenset(found)


__all__ = ["streams_of"]
