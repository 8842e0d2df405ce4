"""Modules of which one takes the name, and with it the parameters, of another where the call decides so.

    Block(2.0)(x) if mask is None else Block(3.0)(x)     # Block_0, either way

    if mask is None:                                     # Block_0 and Block_1; else the second is Block_0
        x = Block(2.0)(x)
    x = Block(3.0)(x)

Linen makes the modules anew in each call, over the same parameters; the constructor makes them once. That is the same where
fields decide, where both are made alike, or where their parameters cannot have one shape: then Linen raises. Else the
constructor says of which place of the call a module is, and the call raises where another place takes it.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...linen.modules.by_passes import IN_TURN
from ...linen.values.sites import BoundArg, Site, Unmigratable
from ...linen.values.values import Const
from ...linen.values.wrappers import is_wrapper
from . import conditions_of_call
from .made_where import is_handed

if TYPE_CHECKING:
    from ...linen.execution.execute import Execution

CODE = "NNX187"

# What decides nothing of a layer but the shapes of its parameters.
_OF_SHAPES = frozenset({"features", "kernel_size", "num_embeddings", "num_heads", "qkv_features", "out_features"})

# Which parameters it has, each by default.
_OF_PARAMETERS = ("use_bias", "use_scale")


def marks(run: Execution, names: Mapping[Site, Any], again: Container[Site]) -> dict[Site, int]:
    """The number of each site that is told from those it may share its name with.

    `names`: the places of the sites (`naming.Place`), in the order in which the call comes to them. `again`: those that are
    what others are. Raises Unmigratable where such modules cannot be told apart.
    """
    groups: dict[tuple[str, ...], list[Site]] = {}
    _refuse_unlike(names, again)
    for site, place in names.items():
        if IN_TURN not in site.renders and (site.conditions or place.kind == "list"):  # these are checked by the call
            groups.setdefault(_name(place), []).append(site)
    found: dict[Site, int] = {}
    for sites in groups.values():
        pairs = ((earlier, site) for number, site in enumerate(sites) for earlier in sites[:number])
        taker = next((later for earlier, later in pairs if _may_give_its_name(run, earlier, later)), None)
        if taker is None:
            continue
        told = run.model.qualname not in run.analyser.never_told_apart
        if not told or not all(_may_be_marked(run, site, names[site]) and site not in again for site in sites):
            label = taker.target.rpartition(".")[2]
            what = f"a {label} has the name of another, which is made in another way, in some calls and not in others"
            raise Unmigratable("NNX152", what, taker.node)
        found.update((site, number) for number, site in enumerate(sites))
    return found


def _refuse_unlike(names: Mapping[Site, Any], again: Container[Site]) -> None:
    """Refuse modules under one computed name of which a flag of the call picks one, where these are unlike.

    The constructor makes what flags ask for whatever they say, so that the last one would stand for all.
    """
    groups: dict[tuple[str, ...], list[Site]] = {}
    for site, place in names.items():
        if place.kind != "dynamic" or site in again or IN_TURN in site.renders or site.kind not in ("layer", "class"):
            continue
        for other in groups.get(_name(place), ()):
            if other.node is site.node or _flags(other) == _flags(site):
                continue
            if ast.dump(other.node) != ast.dump(site.node) or not _are_made_alike(other, site):
                raise Unmigratable("NNX152", f"two modules are called `{ast.unparse(place.dynamic)}`", site.node)
        groups.setdefault(_name(place), []).append(site)


def _flags(site: Site) -> set[tuple[ast.AST, bool | Site]]:
    """The flags of the call that a site depends on, and its sides of them."""
    sides = site.renders.get("sides", {})
    return {(condition, sides.get(condition, _side(condition, site))) for condition, is_flag in site.conditions if is_flag}


def _are_made_alike(one: Site, other: Site) -> bool:
    return all(_is_same(one.bound.get(name), other.bound.get(name)) for name in one.bound.keys() | other.bound.keys())


def note(sites: Iterable[Site]) -> str:
    """What the report says of a class with modules that are told apart."""
    lines = sorted({site.node.lineno for site in sites})
    where = f"line {lines[0]}" if len(lines) == 1 else f"lines {', '.join(map(str, lines))}"
    return f"modules of {where} have one name: a call that takes another than the constructor made raises"


def _may_be_marked(run: Execution, site: Site, place: Any) -> bool:
    """Is a module made by itself, by the constructor, and does the call say it by its name alone?"""
    if site.kind not in ("layer", "class") or site.bridged or site.foreign or is_wrapper(site) or is_handed(run, site):
        return False
    if site.in_setup or site.alternatives or site.through or site.holder != "self":
        return False
    if place.maker is not None or place.named_by:
        return False
    return place.kind == "attribute" or place.kind == "dynamic" or bool(place.iterator)


def _name(place: Any) -> tuple[str, ...]:
    """What sites have in common that may have one name."""
    if place.kind != "dynamic":
        return (place.kind, place.object)
    parts = place.dynamic.values if isinstance(place.dynamic, ast.JoinedStr) else ()
    return ("dynamic", *[str(part.value) for part in parts if isinstance(part, ast.Constant)])


def _may_give_its_name(run: Execution, earlier: Site, later: Site) -> bool:
    """Is it for the call to say whether the later one has a name that the earlier one else has, and are these unlike?"""
    own = set(_sides(later))
    apart = [condition for condition, side in _sides(earlier) if (condition, side) not in own]
    excluding = [condition for condition in apart if any(condition is other for other, _ in own)]
    if not apart or not _are_unlike(run, earlier, later, shifted=not excluding):
        return False
    by_call = {condition for condition in apart if conditions_of_call.decides(run, earlier, condition)}
    return bool(by_call) and by_call.issuperset(excluding)  # else fields say which of them there is


def _sides(site: Site) -> Iterator[tuple[ast.AST, bool | Site]]:
    """The conditions around a site but for flags of the call, which modules are made whatever they say; and its side."""
    sides = site.renders.get("sides", {})
    for condition, is_flag in site.conditions:
        if not is_flag:
            yield condition, sides.get(condition, _side(condition, site))


def _side(condition: ast.AST, site: Site) -> bool | Site:
    """The side of a conditional expression; of what is neither, one of its own."""
    places = {site.node, *site.source.ancestors(site.node), *(passage.call for passage in site.through)}
    places |= {above for passage in site.through for above in passage.source.ancestors(passage.call)}
    for side, part in ((True, getattr(condition, "body", None)), (False, getattr(condition, "orelse", None))):
        if any(statement in places for statement in (part if isinstance(part, list) else [part])):
            return side
    return site


def _are_unlike(run: Execution, one: Site, other: Site, shifted: bool) -> bool:
    """May two modules over the same parameters compute something else? `shifted`: the other has those of the one, and never
    the one those of the other, which alone would leave Linen without those of the other."""
    if {one.kind, other.kind} <= {"param", "variable"}:
        return False
    if one.target != other.target or [t.kind for t in one.lifted] != [t.kind for t in other.lifted]:
        return True
    names: Iterable[str] = (one.bound.keys() | other.bound.keys()) - (one.calltime.keys() & other.calltime.keys())
    if one.kind != "layer":
        pairs = ((name, one.bound.get(name), other.bound.get(name)) for name in names)
        return not all(_is_same(a, b) or _is_left_out(run, one.target, name, a, b) for name, a, b in pairs)
    if any(_differ(one.bound.get(name), other.bound.get(name)) for name in _OF_SHAPES):
        return False
    if shifted and any(_is_false(one.bound.get(n)) and not _may_be_false(other.bound.get(n)) for n in _OF_PARAMETERS):
        return False
    names = [name for name in names if name not in _OF_SHAPES and not name.endswith("_init")]  # the parameters are there
    return any(not _is_same(one.bound.get(name), other.bound.get(name)) for name in names)


def _is_same(one: BoundArg | None, other: BoundArg | None) -> bool:
    return one is not None and other is not None and one.abs.value == other.abs.value


def _is_left_out(run: Execution, target: str, name: str, one: BoundArg | None, other: BoundArg | None) -> bool:
    """Does one of two constructions say the default of a field, and the other leave it out: `Block(1.0)`, `Block()`?"""
    model = run.analyser.classes.get(target)
    field = next((f for f in model.fields() if f.name == name), None) if model is not None else None
    said = [b.node for b in (one, other) if b is not None and b.given]
    if field is None or field.default is None or len(said) != 1 or said[0] is None:
        return False
    try:
        values = [ast.literal_eval(node) for node in (field.default, said[0])]
    except ValueError:
        return False
    return type(values[0]) is type(values[1]) and bool(values[0] == values[1])


def _differ(one: BoundArg | None, other: BoundArg | None) -> bool:
    """Are these two literals, which are not the same?"""
    try:
        said = [ast.literal_eval(b.node) for b in (one, other) if b is not None and b.node is not None]
    except ValueError:
        return False
    return len(said) == 2 and said[0] != said[1]


def _is_false(bound: BoundArg | None) -> bool:
    return bound is not None and isinstance(bound.abs.value, Const) and bound.abs.value.value is False


def _may_be_false(bound: BoundArg | None) -> bool:
    return bound is not None and not (isinstance(bound.abs.value, Const) and bound.abs.value.value is True)


__all__ = ["CODE", "marks", "note"]
