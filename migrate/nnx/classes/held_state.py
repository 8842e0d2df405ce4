"""What a class and the modules that it makes hold: collections, random streams, and variables of the first call."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...catalog import layers
from ...linen.lifted.lifting import LIFTED, OTHER_LIFTED
from ...linen.modules.first_updates import may_be_updated_at_init
from ...linen.values.sites import Site
from ...plan import ClassPlan, Plan
from ...trees import subtree
from ..calls import drawn

if TYPE_CHECKING:
    from .class_text import ClassText

_SCANNING = ("flax.linen.RNN", "flax.linen.Bidirectional")
_LIFTS = frozenset(LIFTED) | OTHER_LIFTED
_ENDS = frozenset(name.rpartition(".")[2] for name in _LIFTS)


def makes_late(text: ClassText) -> bool:
    """Are there variables that the first call makes: of the class's own methods, or of attention that decodes?"""
    return any(site.lazy for site in text.run.sites) or any(code == "NNX207" for code, _, _ in text.notes)


def updated_at_init(text: ClassText, made: list[Site], plan: Plan) -> frozenset[str]:
    """`Counter.count` of each variable that the call of Linen's `init` may have updated, as it runs."""
    own = {f"{text.model.name}.{variable}" for variable in may_be_updated_at_init(text.run)}
    return frozenset(own.union(*(each.updated for each in below(made, plan))))


def wraps(made: list[Site], plan: Plan) -> bool:
    """Is a module that stays Linen wrapped, by the class itself or by what it makes?"""
    kinds = [kind for site in made for kind in (site, *site.alternatives) if kind.kind == "class"]
    native = [found for kind in kinds if (found := plan.classes.get(kind.target)) is not None and found.details is not None]
    return len(native) < len(kinds) or any(kind.bridged for kind in kinds) or any(each.wraps for each in native)


def modes(text: ClassText, made: list[Site], plan: Plan) -> frozenset[str]:
    """The classes whose `use_running_average` says what Linen's `mutable=` said: see `is_mutable_collection`."""
    own = {text.model.name} if text.run.mode_flag else set()
    return frozenset(own.union(*(each.modes for each in below(made, plan))))


def own_streams(text: ClassText, made: list[Site], plan: Plan) -> bool:
    """Does an `nnx.RNN` stand in an attribute, with the stream that it would draw its first carry from?"""
    kinds = [kind for site in made if not text.is_wrapper(site) for kind in (site, *site.alternatives)]
    return any(kind.target in _SCANNING for kind in kinds) or any(each.own_streams for each in below(made, plan))


def transforms(text: ClassText, made: list[Site], plan: Plan) -> bool:
    """Is anything of the class called under a transform, which in NNX is one of modules: `nnx.scan(...)(self.layers, x)`?"""
    if any(site.lifted or site.scopes or site.target in _SCANNING for site in made):
        return True
    project = text.analyser.classes.project
    for owner in text.model.mro():
        for node in subtree(owner.node):
            said = isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and node.attr in _ENDS)
            if said and project.qualname(owner.source, node) in _LIFTS:
                return True
    return any(each.transforms for each in below(made, plan))


def below(made: list[Site], plan: Plan) -> list[ClassPlan]:
    """The plans of the classes that a class makes."""
    targets = {kind.target for site in made for kind in (site, *site.alternatives) if kind.kind == "class"}
    return [plan.classes[name] for name in targets & plan.classes.keys()]


def collections(sites: list[Site], plan: Plan) -> frozenset[str]:
    """The collections of variables that stand in these, however deep."""
    found: set[str] = set()
    for site in sites:
        if site.kind == "param":
            found.add("params")
        elif site.kind == "variable":
            found.add(site.target)
        elif site.kind == "layer":
            layer = layers.lookup(site.target)
            found |= layer.collections if layer is not None else set()
        elif site.kind == "class" and site.traits is not None:
            found |= site.traits.collections
        elif site.kind == "class" and site.target in plan.classes:
            found |= plan.classes[site.target].collections
    return frozenset(found)


def streams(sites: list[Site], own: set[str], plan: Plan) -> frozenset[str]:
    """The random streams that a class draws from: `own`, and those of what it makes."""
    found = set(own)
    for site in sites:
        if site.kind == "layer":
            found |= drawn.streams_of(site)
        elif site.kind == "class" and site.traits is not None:
            found |= site.traits.streams
        elif site.kind == "class" and site.target in plan.classes:
            found |= plan.classes[site.target].rng_streams
    return frozenset(found)
