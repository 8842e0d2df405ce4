"""The random streams that a layer draws from when it is called, as it is configured where it is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...catalog import layers
from ...linen.values.sites import Site
from ...linen.values.values import Const
from ...plan import ClassPlan


def streams_of(site: Site) -> frozenset[str]:
    """The streams of the layers that a site may make: `nn.Dropout(rng_collection='noise')` draws from `noise`."""
    found: set[str] = set()
    for kind in (site, *site.alternatives):
        layer = layers.lookup(kind.target)
        if kind.kind == "layer" and layer is not None:
            found |= layer.streams_of({name: layers.Arg(("",), bound.abs.value) for name, bound in kind.bound.items()})
    return frozenset(found)


def names_unknown(sites: Iterable[Site], classes: Mapping[str, ClassPlan]) -> bool:
    """May something draw from a stream whose name is not written out, as in `nn.Dropout(rng_collection=self.stream)`?"""
    for site in sites:
        if site.foreign:
            return True
        if site.kind == "rng" and site.target.startswith("self."):
            return True
        for kind in (site, *site.alternatives):
            named = kind.bound.get("rng_collection")
            if kind.kind == "layer" and named is not None and not isinstance(named.abs.value, Const):
                return True
            if kind.kind == "class" and kind.target in classes and classes[kind.target].unnamed_streams:
                return True
    return False


def item(stream: str) -> str:
    """How `rngs` is asked for a stream: by name, or by the constructor's argument for the field that names it."""
    return f"[{stream.removeprefix('self.')}]" if stream.startswith("self.") else f".{stream}"


__all__ = ["item", "names_unknown", "streams_of"]
