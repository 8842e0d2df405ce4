"""What classes sow, and sowing under lifted transforms.

NNX keeps a sown value on the module, so that it is stacked with the module's variables or not at all; Linen stacks it
along the axis that `variable_axes` gives its collection.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Set

from ...linen.lifted.lifting import Axis, axes_by_collection
from ...linen.values.sites import Lifted, Site, Unmigratable
from ...linen.values.values import Const, Tup, Value
from ...plan import ClassPlan


def collections_of(calls: Iterable[ast.Call]) -> frozenset[str]:
    """The collections of `self.sow(collection, ...)` calls."""
    return frozenset(str(c.args[0].value) for c in calls if c.args and isinstance(c.args[0], ast.Constant))


def below(sites: Iterable[Site], classes: Mapping[str, ClassPlan]) -> frozenset[str]:
    """The collections that submodules sow into."""
    found: set[str] = set()
    for site in sites:
        if site.foreign and site.traits is not None and site.traits.sows:
            found.add("intermediates")
        for one in (site, *site.alternatives):
            if one.kind == "class" and one.target in classes:
                found |= classes[one.target].sown
            found |= of_layer(one)
    return frozenset(found)


def of_layer(site: Site) -> frozenset[str]:
    """What a layer sows where its call asks for it: attention its weights (`sow_weights=True`)."""
    asked = [k.value for node, _, _ in site.calls for k in node.keywords if k.arg == "sow_weights"]
    wanted = any(not isinstance(value, ast.Constant) or value.value for value in asked)
    return frozenset({"intermediates"}) if site.kind == "layer" and wanted else frozenset()


def check_names(sows: Iterable[ast.Call], taken: Set[str]) -> None:
    """Refuse values that are sown under the name of an attribute: in NNX all collections are one tree."""
    for node in sows:
        given = [k.value for k in node.keywords if k.arg == "name"]
        name = given[0] if given else node.args[1] if len(node.args) > 1 else None
        if isinstance(name, ast.Constant) and name.value in taken:
            raise Unmigratable("NNX156", f"a value is sown under {name.value!r}, which is an attribute's name", node)


def check(lifted: Lifted, how: str, axis: Axis, sown: Iterable[str], apart: bool = False) -> None:
    """Refuse a scan or vmap under which sown values would be stacked along another axis, or could not be kept.

    `apart`: other axes can be said.
    """
    declared = axes_by_collection(lifted)
    for collection in sorted(sown):
        if how != "stacked":
            reason = f"values are sown into {collection!r} by steps or members of nn.{lifted.kind} that share variables"
            raise Unmigratable("NNX168", reason, lifted.node)
        wanted = declared.get(collection, declared.get("True"))
        if not apart and collection in left_out(lifted, {collection}):
            reason = f"values sown into {collection!r} by a function under nn.{lifted.kind}, which leaves them out"
            raise Unmigratable("NNX168", reason, lifted.node)
        if wanted is not None and wanted != axis and not apart:
            reason = f"values sown into {collection!r} are stacked along another axis than the parameters"
            raise Unmigratable("NNX168", reason, lifted.node)


def left_out(lifted: Lifted, sown: Iterable[str]) -> list[str]:
    """The collections whose values Linen drops under a scan or vmap, which is not told what to do with them."""
    said: set[str] = set(axes_by_collection(lifted))
    for option in ("variable_broadcast", "variable_carry"):
        found = lifted.abs.get(option)
        names = _names(found.value) if found is not None else set()
        if names is None:
            return []
        said |= names
    return [] if "True" in said else sorted(set(sown) - said)


def _names(value: Value) -> set[str] | None:
    """The collections that a filter names; None where that is not certain."""
    if isinstance(value, Const):
        return set() if value.value is None or value.value is False else {str(value.value)}
    if isinstance(value, Tup):
        parts = [_names(item) for item in value.items]
        return None if None in parts else {name for part in parts for name in part or ()}
    return None


__all__ = ["below", "check", "check_names", "collections_of", "left_out", "of_layer"]
