"""Lists of `setup` that are called but for their last item, which comes after:

    for layer in self.layers[:-1]:
      x = nn.relu(layer(x))
    return self.layers[-1](x)

The constructor's loop goes through all of the list: the size that it follows is, after it, that behind the last item. In
the call it is the size before the last item, which nothing but the last item may ask for. It has a name of its own.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from ..values.dims import Atom, Dim
from ..values.merging import map_dims
from ..values.sites import CallRecord, Site, Unmigratable
from ..values.values import Value
from .left_out import is_last, left_out


def is_all_but_last(run: Any, site: Site, iterator: ast.expr) -> bool:
    """Does a loop go through a module's list but for its last item: `layers[:-1]`, `range(len(layers) - 1)`?"""
    return left_out(run, site, iterator) == 1


def leave(run: Any, env: Any, trackers: Mapping[str, frozenset[Site]]) -> None:
    """After such a loop: the sizes that it followed are those before the last item."""
    for tracker, sites in trackers.items():
        before = run.tracker(f"{tracker}_before_last")
        run.before_last[before] = (tracker, sites)
        for name, bound in list(env.names.items()):
            changed = _renamed(bound.value, tracker, before)
            if changed is not bound.value:
                env.names[name] = type(bound)(changed, bound.static, bound.flags)


def of_last(run: Any, site: Site, node: ast.Call, record: CallRecord) -> CallRecord:
    """The arguments of `layers[-1](x)`, in the words of the loop that went through the others."""
    place = node.func.slice if isinstance(node.func, ast.Subscript) else None
    if place is None or isinstance(place, ast.Slice) or not is_last(run, site, place):
        return record
    for before, (tracker, sites) in run.before_last.items():
        if site in sites:
            if not run.path:
                run.last_called.add(before)
            args = tuple(_renamed(value, before, tracker) for value in record.args)
            record = CallRecord(args, {k: _renamed(v, before, tracker) for k, v in record.keywords.items()})
    return record


def check(run: Any) -> None:
    """Refuse lists whose last item is not called, so that Linen has no parameters for it."""
    for before, (_, sites) in run.before_last.items():
        if before not in run.last_called:
            node = next(iter(sites)).node
            raise Unmigratable("NNX114", "all items of a list but the last are called", node)


def _renamed(value: Value, old: str, new: str) -> Value:
    def change(atom: Atom) -> Dim | None:
        return Dim.local(new) if atom.kind == "local" and atom.args == (old,) else None

    return map_dims(value, lambda dim: dim.substitute(change))


__all__ = ["check", "is_all_but_last", "leave", "of_last"]
