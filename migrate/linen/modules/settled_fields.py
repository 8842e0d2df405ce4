"""Fields that have to be what they are by default: the name of a collection decides the type of a variable in NNX.

`self.variable(self.collection_name, ...)` with `collection_name: str = "state"`: the class is written for the default, and
its constructor raises on anything else.
"""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from ..values.sites import Abs, Site, Static, Unmigratable
from ..values.values import Const


def settled(run: Any, found: Abs) -> Abs:
    """A value that is to be known: that of a field is taken to be its default, where that is a string."""
    name = found.value.text.removeprefix("self.") if isinstance(found.value, Static) else ""
    field = run.fields.get(name)
    default = field.default if field is not None else None
    if not isinstance(default, ast.Constant) or not isinstance(default.value, str):
        return found
    run.analyser.settled.setdefault(run.model.qualname, {})[name] = default.value
    run.given[name] = known = Abs(Const(default.value), static=True)
    return dataclasses.replace(found, value=known.value)


def check_given(run: Any, site: Site) -> None:
    """Raise Unmigratable where a class is given something else."""
    for name, value in run.analyser.settled.get(site.target, {}).items():
        bound = site.bound.get(name)
        if bound is not None and isinstance(bound.abs.value, Const) and bound.abs.value.value != value:
            reason = (
                f"`{name}` of {site.target.rpartition('.')[2]} names a collection, and is given another than its default"
            )
            raise Unmigratable("NNX143", reason, site.node)


__all__ = ["check_given", "settled"]
