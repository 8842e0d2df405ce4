"""Methods that a class calls itself and others call, too: `self.actor_critic.actor(z)` of a class whose `__call__` says

    def __call__(self, x):
      return self.actor(x), self.critic(x)

The constructor asks for the sizes of what `__call__` is given. A method that it hands an argument on to, as it is, tells
them as well; of one that it gives anything else, nothing is known.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from ...trees import said, subtree
from ..project.classes import ClassModel, Method
from ..values.presence import whole_argument
from ..values.sites import CallRecord, Site
from ..values.values import Array, Unknown, Value


@dataclasses.dataclass(frozen=True)
class Handed:
    """What `__call__` gives a method: for each parameter the argument that it is, or ""; and what comes back."""

    names: Mapping[str, str]
    result: Value


def note(run: Any, method: Method, bound: Mapping[str, Any], given: Sequence[str], result: Value) -> None:
    """The class's own `__call__` calls one of its methods; `given`: the parameters that it says something for."""
    if run.entry != "__call__" or method.name.startswith("_"):
        return
    positions = [p.arg for p in method.parameters]
    names = {name: whole_argument(bound[name].value) if name in given else "" for name in positions}
    names = {name: argument if argument in run.arguments else "" for name, argument in names.items()}
    known = run.handed.get(method.name)
    if known is not None:
        names = {name: argument if known.names[name] == argument else "" for name, argument in names.items()}
    whole = all(names.get(name) for name in given)  # none for what `**kwargs` takes
    run.handed[method.name] = Handed(names, result if whole else Unknown(f"what {method.name} returns"))


def inputs_of(site: Site, called: Any) -> tuple[dict[str, Value], frozenset[str]]:
    """What the calls of a module give for the arguments that its constructor asks the sizes of, by whichever methods; and
    those that two methods give unlike sizes of."""
    found: dict[str, Value] = {}
    unlike: set[str] = set()
    by: dict[str, str] = {}
    first = (site.renders.get("method", "__call__"), site.call)
    for method, record in (first, *(() if site.lifted else site.renders.get("given", ()))):
        summary = called.summaries.get(method)
        if summary is None or record is None:
            continue
        for name, value in summary.inputs(record).items():
            if by.setdefault(name, method) == method:
                found.setdefault(name, value)
            elif isinstance(value, Array) and isinstance(found[name], Array):
                if not _may_be_one(found[name].shape.dim(-1), value.shape.dim(-1)):  # type: ignore[attr-defined]
                    unlike.add(name)
            elif isinstance(value, Array):
                found[name] = value
    return found, frozenset(unlike)


def _may_be_one(a: object, b: object) -> bool:
    return a is None or b is None or a == b


def noted(site: Site, method: str, record: CallRecord) -> None:
    """A call of a method of a module."""
    site.renders["given"] = (*site.renders.get("given", ()), (method, record))


def uncalled(model: ClassModel, called: Any, methods: frozenset[str]) -> Site | None:
    """A module of a class that none of these methods reaches: Linen makes no variables for it."""
    if "__call__" in methods or not methods <= model.methods().keys():
        return None
    reached = _reached(model, methods)
    nodes = {name: method.nodes for name, method in model.methods().items()}
    for site in called.sites:
        if site.kind not in ("layer", "class") or site.lazy or site.target == "flax.linen.Dropout":
            continue
        if site.in_setup:
            callers = {env.method.name if env.method is not None else "" for _, _, env in site.calls}
            if callers and "" not in callers and callers.isdisjoint(reached):
                return site  # type: ignore[no-any-return]
        elif not any(site.node in nodes[name] for name in reached) and any(site.node in own for own in nodes.values()):
            return site  # type: ignore[no-any-return]
    return None


def is_only_asked(model: ClassModel, site: Site) -> bool:
    """Does a class use a module of its own only to call its methods: is it not handed to `nn.RNN`, or anything else?"""
    made = site.source.parents.get(site.node)
    if isinstance(made, ast.Attribute):  # `Heads().actor(x)`
        return True
    target = made.targets[0] if isinstance(made, ast.Assign) and len(made.targets) == 1 else None
    if not isinstance(target, ast.Attribute | ast.Name) or (isinstance(target, ast.Name) and site.in_setup):
        return False
    held = said(target)
    for method in model.methods().values():
        for node in subtree(method.node):
            if type(node) is type(target) and isinstance(node.ctx, ast.Load) and said(node) == held:
                if not isinstance(method.source.parents.get(node), ast.Attribute):
                    return False
    return True


def _reached(model: ClassModel, methods: frozenset[str]) -> frozenset[str]:
    """The methods that these call, themselves included."""
    reached, open_names = set(methods), list(methods)
    while open_names:
        method = model.methods()[open_names.pop()]
        read = {n.attr for n in subtree(method.node) if isinstance(n, ast.Attribute)}
        more = (read & model.methods().keys()) - reached
        reached |= more
        open_names += more
    return frozenset(reached)


__all__ = ["Handed", "inputs_of", "is_only_asked", "note", "noted", "uncalled"]
