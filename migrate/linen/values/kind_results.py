"""A module of one of several kinds: what calling it gives, whichever it is.

The constructor cannot know which kind a factory's field holds, so where the kinds differ in the last dimension of their
results it asks the module that it has just made: `features = self.Block_0.out_features`.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

from ...catalog import layers
from .bundles import Bundle
from .dims import Dim
from .merging import merge
from .sites import Block, CallRecord, Make, Site, Track, Unmigratable
from .values import Array, Shape, Tup, Unknown, Value

# Layers whose NNX counterparts say how many features come out.
_SAY_FEATURES = frozenset({"flax.linen.Dense", "flax.linen.Conv", "flax.linen.ConvTranspose"})
OUT = "out_features"


def agreed(run: Any, site: Site, record: CallRecord, results: list[Value]) -> Value:
    """What the kinds' results, the first of `site` itself, have in common, the number of features asked for if need be."""
    open_width = False
    if all(_says_features(kind) for kind in (site, *site.alternatives)):  # each may have its width from a factory
        results = [r if isinstance(r, Array) else Array(Shape((None,), Shape.unknown().lead)) for r in results]
        open_width = any(r.shape.dim(-1) is None for r in results if isinstance(r, Array))
    first, *rest = results
    if all(other == first for other in rest) and not open_width:
        return first
    arrays = [r for r in results if isinstance(r, Array)]
    if len(arrays) < len(results):
        return Unknown("what several kinds of modules give")
    merged: Value = first
    for other in rest:
        merged = merge(merged, other)
    assert isinstance(merged, Array)
    last = [a.shape.dim(-1) for a in arrays]
    if all(d == last[0] for d in last) and last[0] is not None:
        dims, lead = merged.shape.dims[:-1], merged.shape.lead
        return Array(Shape((*dims, last[0]), lead))
    asked = _asked(run, site)
    if asked is None:
        return merged
    return _with_width(merged.shape, asked)


def _with_width(shape: Shape, width: Dim) -> Array:
    """An array of a shape whose last dimension is another."""
    return Array(Shape((*shape.dims[:-1], width), shape.lead if shape.dims else Shape.unknown().lead))


def of_layer(run: Any, site: Site, result: Value) -> Value:
    """The result of a layer whose number of features is not known here, as where a factory has it: `partial(nn.Dense, n)`.

    `result`: as it is without it.
    """
    bound = site.bound.get("features")
    shape = result.shape if isinstance(result, Array) else Shape.unknown()
    known = shape.dim(-1) is not None or (bound is not None and not isinstance(bound.abs.value, Unknown))
    if known or not _says_features(site) or site.lifted or site.held or site.through:
        return result
    asked = _asked(run, site)
    return result if asked is None else _with_width(shape, asked)


def _says_features(site: Site) -> bool:
    return site.kind == "layer" and site.target in _SAY_FEATURES and layers.lookup(site.target) is not None


def said_by_itself(run: Any, site: Site, called: Any, inside: Value, result: Value) -> Value:
    """The result of a class whose width only its own constructor knows, as that of a loop over a list: it is asked.

    `inside`: the result in the class's own terms; `result`: in the caller's. A width that follows the input's is not
    asked for: the constructor may not need the input's size, and calls may differ in it.
    """
    if isinstance(result, Tup) and isinstance(inside, Tup) and result.items and len(result.items) == len(inside.items):
        # `x, aux = Block()(x)`: what it says is said of the first of them.
        first = said_by_itself(run, site, called, inside.items[0], result.items[0])
        return result if first is result.items[0] else Tup((first, *result.items[1:]), result.kind)
    if isinstance(result, Bundle) and isinstance(inside, Bundle) and result.items and inside.items:
        first = said_by_itself(run, site, called, inside.items[0], result.items[0])
        if first is result.items[0]:
            return result
        same = {name for name, value in inside.names if value == inside.items[0]}
        names = tuple((name, first if name in same else value) for name, value in result.names)
        return Bundle((first, *result.items[1:]), names, result.tail)
    if not (isinstance(inside, Array) and isinstance(result, Array)) or result.shape.dim(-1) is not None:
        return result
    width = inside.shape.dim(-1)
    if width is None or any(atom.kind == "input" for atom in width.atoms()):
        return result
    fixed = called.fields.keys() | called.model.methods().keys() | called.attributes.keys()
    if OUT in fixed or run.analyser.family(site.target) & run.analyser.mute:
        return result
    if site.lifted or site.held or site.through or site.choice or any(k.kind != "class" for k in site.alternatives):
        return result
    if site.conditions if site.in_setup else "block" not in site.renders:
        return result
    asked = _asked(run, site)
    if asked is None:
        return result
    shape = result.shape if result.shape.dims else result.shape.expand(1)
    site.renders["asked"] = True
    return Array(Shape((*shape.dims[:-1], asked), shape.lead))


def asked_inside(site: Site, fields: Container[str], text: str) -> Dim | None:
    """`self.encoder.out_features` of a module that setup makes, as its owner asks it: `self.model.encoder.out_features`."""
    head, *rest = text.split(".")
    if head != "self" or len(rest) < 2 or rest[-1] != OUT or not all(part.isidentifier() for part in rest):
        return None
    if rest[0] in fields or rest[0] in site.bound or not (site.in_setup and site.container) or site.loops:
        return None
    if site.lifted or site.held or site.through or site.choice or site.conditions or site.alternatives:
        return None
    return Dim.opaque(f"self.{site.container}.{'.'.join(rest)}")


def main_result(value: Value | None) -> Value | None:
    """What a module says the width of: its result, or the first of several."""
    while isinstance(value, Tup | Bundle) and value.items:
        value = value.items[0]
    return value


def _asked(run: Any, site: Site) -> Dim | None:
    """The number of features that the module made at the site says it gives."""
    if run.model.qualname in run.analyser.later:  # it may be made when nothing is left to ask for
        return None
    for kind in (site, *site.alternatives):
        if kind.kind == "layer" and not _says_features(kind):
            return None
        if kind.kind == "class" and site.alternatives and not _can_say(run, kind.target):
            return None
    for kind in (site, *site.alternatives):
        if kind.kind == "class":
            run.analyser.asked |= run.analyser.family(kind.target)  # a constructor may be inherited
            if site.alternatives:
                run.analyser.of_kinds.add(kind.target)
    if site.in_setup:
        return Dim.opaque(f"self.{site.container}.{OUT}") if site.container and not site.loops else None
    return Dim.local(make_asked(run, site, "features", OUT))


def _can_say(run: Any, target: str) -> bool:
    """Does a class know how many features it gives? One that stays Linen is refused for itself."""
    try:
        summary = run.analyser.execution(target).summaries.get("__call__")
    except Unmigratable:
        return True
    result = main_result(summary.result) if summary is not None else None
    return not isinstance(result, Array) or result.shape.dim(-1) is not None


def make_asked(run: Any, site: Site, stem: str, attribute: str) -> str:
    """The name that the constructor gives to what the module made at the site says of its result."""
    if "out" not in site.renders:
        block = site.renders["block"]
        made = next((i for i, s in enumerate(block.steps) if isinstance(s, Make) and s.site is site), None)
        if made is None:
            raise Unmigratable("NNX163", "a module of several kinds is made where it cannot be asked", site.node)
        site.renders["out"] = run.tracker(stem)
        block.steps.insert(made + 1, Track(site.renders["out"], Dim.of(0), site, attribute))
        _make_later(block, made)
    return str(site.renders["out"])


def rolled_back(site: Site, renders: Mapping[str, Any]) -> None:
    """Forget that the module made at the site was asked in a pass of a loop that was only tried, before which it had
    `renders`."""
    name = site.renders.get("out") if "out" not in renders else None
    steps = site.renders["block"].steps if name is not None else []
    steps[:] = [s for s in steps if not (isinstance(s, Track) and s.site is site and s.name == name)]


def _make_later(block: Block, made: int) -> None:
    """`Dense(2)(Block()(x))`: what is made before the module that is asked, and called with its result, is made after it."""
    first = made
    while first and _waits(block.steps[first - 1], block.steps[made]):
        first -= 1
    block.steps[first : made + 2] = [*block.steps[made : made + 2], *block.steps[first:made]]


def _waits(step: object, for_: object) -> bool:
    """Is it the making of a module that nothing has called yet, and which Linen does not count with the other?"""
    if not isinstance(step, Make) or not isinstance(for_, Make):
        return False
    site = step.site
    alone = site.kind in ("layer", "class") and not site.alternatives and not site.container and not site.passed
    return alone and site.call is None and _name(site) not in {_name(kind) for kind in (for_.site, *for_.site.alternatives)}


def _name(site: Site) -> str:
    return site.target.rpartition(".")[2]
